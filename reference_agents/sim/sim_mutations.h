// Makes variants of a kernel module by small changes of its text, as a model that makes mistakes
// could have written them. Pure functions, thread-safe.
//
//   std::string broken = mutate(oracle, Flaw::wrong, 3);
#pragma once

#include <cstdint>
#include <string>

namespace assay::agents {

enum class Flaw {
  none,
  does_not_compile,  // a syntax error, or a function that tl lacks
  wrong,             // another arithmetic operator or reduction, or a mask that is one too short
  slow,              // one warp, small blocks, or repeated launches
};

/// Makes one change. `draw` selects it among the possible ones. If no change makes a module wrong,
/// the module is broken instead. If no change makes it slow, it stays as it is.
std::string mutate(const std::string& source, Flaw flaw, std::uint64_t draw);

}  // namespace assay::agents
