// Finds the stage where an attempt ended, and TritonBench's type of its last error. The stage is
// the first of the tools compile, run_tests and submit that no version of the attempt passed. A
// right attempt has no such stage, and neither has an attempt that was never judged or that
// something else ended (a missing GPU, a server that stopped). Pure functions.
//
//   row.failure = failure_of(score);  // {"run_tests", "ResultsError", "Runtime & Logic"}
//   std::vector<StageCount> stages = count_stages({row.failure});  // always all three stages
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "metrics/error_groups.h"
#include "tools/model/services.h"

namespace assay::report {

/// The stages in the order in which an attempt reaches them.
inline constexpr std::array<std::string_view, 3> kAttemptStages = {"compile", "run_tests",
                                                                   "submit"};

/// compile: no version compiled. run_tests: a version compiled, but none was right on the public
/// cases. submit: a version was right there, but it failed the grading or was never submitted; in
/// the latter case there may be no error.
struct FailureStage {
  std::string stage;
  /// TritonBench's type and group of the error of the graded submission, or else of the last call
  /// that failed. Empty if no call failed.
  std::string error_type, error_group;
};

/// Returns the stage, by the graded submission and, if `score` has them, by the calls before it.
std::optional<FailureStage> failure_of(const tools::OperatorScore& score);

struct StageCount {
  std::string_view stage;
  std::int64_t attempts = 0;
  std::vector<metrics::GroupCount> groups;  // all four
  std::int64_t without_error = 0;
};

std::vector<StageCount> count_stages(const std::vector<std::optional<FailureStage>>& failures);

}  // namespace assay::report
