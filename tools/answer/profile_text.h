// A profile as an agent reads it: a diagnosis of at most kProfileChars characters, and behind it
// the digest of the detail that was asked for.
//
//   text = profile_text(verdict);       // "memory-bound, 79 % of the roofline ..." and one
//   suggestion
//
// The verdict is redacted already. Pure functions.
#pragma once

#include <cstddef>
#include <string>

#include "sandbox/job/job.h"

namespace assay::tools {

/// 400 tokens of 3.2 characters are 1,280: this, and some 280 for the job's handle and the next
/// step around it.
inline constexpr std::size_t kProfileChars = 1'000;

/// Needs `verdict.profile`. Escaped.
std::string profile_text(const sandbox::Verdict& verdict);

}  // namespace assay::tools
