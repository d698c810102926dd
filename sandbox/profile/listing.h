// Creates the texts of a profile that people read: the source with the instructions of each line,
// and the plan's operations with their times.
//
//   std::string text = annotated_source(source, digest);
//   // "   12 |   96   32 | LDG.128 x4, FADD x24     |     x = tl.load(...)"
//
// Pure functions.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "sandbox/job/job.h"

namespace assay::sandbox {

/// Returns every line of the source with its instructions, followed by the lines of inlined
/// libraries.
std::string annotated_source(std::string_view source, const CodeDigest& digest);

/// Returns a table of a plan's operations. The slowest operation comes first.
std::string timeline_text(const std::vector<OperationTime>& timeline);

}  // namespace assay::sandbox
