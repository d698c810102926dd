// The database of evolved programs. It holds islands that evolve independently, so that the first
// idea that works does not displace all others. migrate() copies the best program of each island to
// the next island in a ring.
//
//   Database database({.islands = 2, .archive = true}, SeededRng(0, session.identity()));
//   database.add(0, {code, evaluation});
//   const Program parent = database.parent(0);
//   for (const Program& other : database.others(0, parent, 2)) show(other);
//
// With the option `archive`, each island keeps a MAP-Elites archive: the best program of each cell.
// A cell has two features:
//
// - The length of the code, in steps of half a doubling. Length is the cheapest sign of another
//   structure (one pass or two, a helper kernel, an unrolled loop), and a changed constant does not
//   change it. A closer look at the code would favour one dialect.
// - The result: does not compile, compiles, or correct with the speed in doublings. Failures have
//   cells because a prompt that shows a failure keeps the model from repeating it.
//
// The database draws the contents of a prompt:
//
// - The parent, which the model improves. Without the archive, it is the island's best program.
//   With the archive, it is the best program in two of three draws, and otherwise another elite.
//   That elite has reached the furthest level of the island. A correct program slower than
//   `min_perf` is no parent if there is a faster one.
// - The others. Without the archive, they are the island's newest programs. With the archive, one
//   half are the best elites and the other half are drawn from the remaining elites.
//
// The same calls with the same seed give the same programs. Not thread-safe.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "reference_agents/core/evaluation.h"
#include "reference_agents/core/seeded_rng.h"

namespace assay::agents {

/// One evaluated version.
struct Program {
  std::string code;
  Evaluation evaluation;
};

/// {length, result}
using Cell = std::pair<int, int>;

Cell cell_of(const Program& program);

class Archive {
 public:
  /// Puts the program into its cell unless the one there is better. Of two equal programs the newer
  /// stays, because fewer prompts have shown it.
  void add(const Program& program);
  /// The programs of all cells, in the order of the cells.
  std::vector<Program> elites() const;

 private:
  std::map<Cell, Program> cells_;
};

struct DatabaseRules {
  std::size_t islands = 1;
  bool archive = false;
  double min_perf = 0;  // oracle latency / own latency
};

/// Returns the best program, and of several equal ones the newest. `programs` must not be empty.
const Program& best_of(const std::vector<Program>& programs);

class Database {
 public:
  Database(DatabaseRules rules, SeededRng draws)
      : rules_(rules), draws_(draws), islands_(rules.islands) {}

  void add(std::size_t island, const Program& program);
  void migrate();

  bool empty(std::size_t island) const { return islands_[island].programs.empty(); }
  bool empty() const;
  /// The island must not be empty.
  Program parent(std::size_t island);
  /// Returns at most `most` different programs without the parent.
  std::vector<Program> others(std::size_t island, const Program& parent, std::size_t most);
  /// Returns the best program of all islands. There must be a program.
  Program best() const;

 private:
  struct Island {
    std::vector<Program> programs;  // oldest first
    Archive archive;
  };
  std::vector<Program> possible_parents(const Island& island) const;

  const DatabaseRules rules_;
  SeededRng draws_;
  std::vector<Island> islands_;
};

}  // namespace assay::agents
