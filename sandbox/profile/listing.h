// The profile's artifacts that a person reads: the submission's source with what became of each
// line, and the plan's operations with their times.
//
//   annotated_source(source, digest);
//     "   12 |   96   32 | LDG.128 x4, FADD x24     |     x = tl.load(...)"
//
// Pure functions.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "sandbox/job/job.h"

namespace assay::sandbox {

/// Every line of the source; then lines of libraries that were inlined.
std::string annotated_source(std::string_view source, const CodeDigest& digest);

/// A table of a plan's operations, slowest first.
std::string timeline_text(const std::vector<OperationTime>& timeline);

}  // namespace assay::sandbox
