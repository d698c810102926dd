// Extracts what Nsight Compute printed besides its report, for an error message: on a remote
// machine nothing else tells the reason of a failure.
//
//   fail(ErrorCode::unavailable, "ncu gave no report: " + ncu_words(log));
//
// Pure function. The text may have any content.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace assay::sandbox {

inline constexpr std::size_t kNcuWordsBytes = 1'500;

/// Returns one line of at most kNcuWordsBytes: the lines of `log`, joined by " | ". Errors of ncu
/// and of the launcher come first, then the other lines in their order. It leaves out the lines of
/// the report (CSV).
std::string ncu_words(std::string_view log);

}  // namespace assay::sandbox
