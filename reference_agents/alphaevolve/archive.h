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
#pragma once

#include <map>
#include <utility>
#include <vector>

#include "reference_agents/alphaevolve/program.h"

namespace assay::agents {

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

}  // namespace assay::agents
