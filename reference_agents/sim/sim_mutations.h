// Variants of a kernel module by small changes of its text: what a model that errs might have
// written. Which of the possible places is changed is drawn by the caller. Pure functions, safe
// from any thread.
//
//   std::string broken = mutate(oracle, Flaw::wrong, 3);
#pragma once

#include <cstdint>
#include <string>

namespace assay::agents {

enum class Flaw {
  none,
  does_not_compile,  // a syntax error, or a function that tl lacks
  wrong,             // another arithmetic operator or reduction, or a mask that is one short
  slow,              // one warp, small blocks, or the same launches many times over
};

/// `draw` chooses among the possible changes. Where a module offers no place for a wrong or slow
/// change, it is broken or left as it is.
std::string mutate(const std::string& source, Flaw flaw, std::uint64_t draw);

}  // namespace assay::agents
