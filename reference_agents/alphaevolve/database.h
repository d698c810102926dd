// The programs database: islands that evolve apart, so that the first idea which works does not
// drive out all others, and from time to time hand on their best. Islands form a ring; `migrate`
// copies each one's best to the next. What a prompt shows is drawn here:
//
// - the parent, which the model is to improve. Without the archive it is the island's best program.
// With it, it is that one two times in
//   three, and else an elite of another cell. Either way the cascade decides who can be one: only
//   what came as far as any program of the island did (nothing that fails once something is
//   correct), and a correct program slower than `min_perf` only while none is faster.
// - others beside it, for their errors and ideas. Without the archive: the island's newest. With
// it: the best elites for one half, and for
//   the other elites drawn from the rest, whatever came of them.
//
//   Database database({.islands = 2, .archive = true}, SeededRng(0, bench.identity()));
//   database.add(0, {code, evaluation});
//   const Program parent = database.parent(0);
//   for (const Program& other : database.others(0, parent, 2)) show(other);
//
// The same calls with the same draws give the same answers. Not thread-safe.
//
// A MAP-elites archive: of all programs that are alike only the best one is kept, so that ideas
// which are not the fastest yet stay within reach. Alike are programs of the same cell of two
// features:
//
// - how long the code is, in steps of half a doubling: the cheapest sign of another structure (one
// pass or two, a helper kernel, a fused or an
//   unrolled loop), and one that changing constants does not move. Anything that reads the code
//   closer would favour one dialect.
// - what came of it: does not compile, compiles, correct, and of the correct ones the speed in
// doublings. Failures have cells too, because
//   a prompt that shows one keeps the next version from repeating it; the speed has, so that a slow
//   version of the same length is not lost when a faster one appears.
//
//   Archive archive;
//   archive.add({code, evaluation});
//   archive.elites();          // one of each cell, in the order of the cells
//
// Not thread-safe.
//
// One version that alphaevolve evaluated. Value.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "reference_agents/core/evaluation.h"
#include "reference_agents/core/seeded_rng.h"

namespace assay::agents {

struct Program {
  std::string code;
  Evaluation evaluation;
};

/// {length, worth}
using Cell = std::pair<int, int>;

Cell cell_of(const Program& program);

class Archive {
 public:
  /// Takes the cell's place unless what is there is better: of equals the newer has been shown
  /// less.
  void add(const Program& program);
  std::vector<Program> elites() const;

 private:
  std::map<Cell, Program> cells_;
};

struct DatabaseRules {
  std::size_t islands = 1;
  bool archive = false;
  double min_perf = 0;  // oracle latency / this one's
};

/// Of several that are equally good the newest: it has been shown least. `programs` is not empty.
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
  /// At most `most`, none of them the parent; none twice.
  std::vector<Program> others(std::size_t island, const Program& parent, std::size_t most);
  /// Of all islands; there must be a program.
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
