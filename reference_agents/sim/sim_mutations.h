// Makes variants of a kernel module by small changes of its text. The changes resemble the mistakes
// of a model. Pure functions, thread-safe.
//
//   std::string broken = mutate(oracle, Flaw::wrong, 3);
#pragma once

#include <cstdint>
#include <string>

namespace assay::agents {

enum class Flaw {
  none,
  does_not_compile,  // a syntax error, or a function that tl lacks
  wrong,             // another arithmetic operator or reduction, or a mask that is too short by 1
  slow,              // one warp, small blocks, or repeated launches
};

/// Makes one change. `draw` selects the change among the possible changes. If no change makes the
/// module wrong, a change that does not compile is made instead. If no change makes the module
/// slow, the module stays unchanged.
std::string mutate(const std::string& source, Flaw flaw, std::uint64_t draw);

}  // namespace assay::agents
