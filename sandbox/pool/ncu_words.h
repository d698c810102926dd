// What Nsight Compute said besides its report, for the message of a failure: on a machine far away
// it is all that there is to find the reason by.
//
//   fail(ErrorCode::unavailable, "ncu gave no report: " + ncu_words(log));
//
// Pure function, for text of any content.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace assay::sandbox {

inline constexpr std::size_t kNcuWordsBytes = 1'500;

/// One line of at most kNcuWordsBytes, the lines of `log` joined by " | ": first errors, ncu's and
/// the launchers', then the others in their order. Lines of a report (CSV) are left out.
std::string ncu_words(std::string_view log);

}  // namespace assay::sandbox
