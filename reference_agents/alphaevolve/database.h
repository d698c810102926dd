// Defines the database of evolved programs. It contains islands that evolve independently, so that
// the first idea that works does not displace all other ideas. migrate() copies the best program of
// each island to the next island in a ring.
//
//   Database database({.islands = 2, .archive = true}, SeededRng(0, session.identity()));
//   database.add(0, {code, evaluation});
//   const Program parent = database.parent(0);
//   for (const Program& other : database.others(0, parent, 2)) show(other);
//
// If the option `archive` is on, each island keeps a MAP-Elites archive. The archive sorts programs
// into cells and keeps the best program of each cell (an elite). Two features of a program
// determine its cell:
//
// - The length of the code, in steps of half a doubling. The length is the cheapest sign of another
//   structure (one pass or two, a helper kernel, an unrolled loop), and a changed constant does not
//   change the length. A feature that looks closer at the code would favour one dialect.
// - The result: the program does not compile, compiles, or is correct with some speed, in steps of
//   a doubling. Failures have cells too, because a prompt that shows a failure keeps the model from
//   repeating it.
//
// The database draws the contents of a prompt:
//
// - The parent, which the model improves. Without the archive, it is the island's best program.
//   With the archive, it is the best program with a probability of two thirds. Otherwise it is a
//   random elite of the same level (broken, compiles, correct) as the best program, perhaps that
//   program itself. Elites whose Perf is below `min_perf` take part in this draw only if no elite
//   of that level reaches `min_perf`.
// - The other programs. Without the archive, they are the island's newest programs. With the
//   archive, one half are the best elites and the other half are drawn from the remaining elites.
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

/// One version of the code and its evaluation.
struct Program {
  std::string code;
  Evaluation evaluation;
};

/// A cell of the archive: the pair {length, result}.
using Cell = std::pair<int, int>;

Cell cell_of(const Program& program);

class Archive {
 public:
  /// Puts the program into its cell unless the cell has a better program. Of two equal programs the
  /// newer program stays, because fewer prompts have shown it.
  void add(const Program& program);
  /// Returns the programs of all cells, in the order of the cells.
  std::vector<Program> elites() const;

 private:
  std::map<Cell, Program> cells_;
};

struct DatabaseRules {
  std::size_t islands = 1;
  bool archive = false;
  double min_perf = 0;  // the least Perf (baseline latency / own latency) of a parent
};

/// Returns the best program. If several programs are equally good, returns the newest of them.
/// `programs` must not be empty.
const Program& best_of(const std::vector<Program>& programs);

class Database {
 public:
  Database(DatabaseRules rules, SeededRng draws)
      : rules_(rules), draws_(draws), islands_(rules.islands) {}

  void add(std::size_t island, const Program& program);
  void migrate();

  bool empty(std::size_t island) const { return islands_[island].programs.empty(); }
  bool empty() const;
  /// Draws the parent of the next prompt. The island must not be empty.
  Program parent(std::size_t island);
  /// Draws at most `most` different programs of the island. The parent is not among them.
  std::vector<Program> others(std::size_t island, const Program& parent, std::size_t most);
  /// Returns the best program of all islands. At least one island must have a program.
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
