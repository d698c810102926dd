// Finds the stage at which a failed attempt ended, and the type of its last error in TritonBench's
// classification. The stages are the tools compile, run_tests and submit, in this order. An attempt
// ended at the first stage that no version of its source passed. Three kinds of attempts have no
// stage: a right attempt, an attempt that was never judged, and an attempt that ended for an
// outside reason, such as a missing GPU or a server that stopped. Pure functions.
//
//   row.failure = failure_of(score);  // {"run_tests", "ResultsError", "Runtime & Logic"}
//   std::vector<StageCount> stages = count_stages({row.failure});  // has all three stages
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

/// The stage at which a failed attempt ended. `compile`: no version compiled. `run_tests`: a
/// version compiled, but no version was right on the public cases. `submit`: a version was right on
/// the public cases, but it failed the grade or was never submitted. In the last case there may be
/// no error.
struct FailureStage {
  std::string stage;
  /// The type and the group of the error in TritonBench's classification. The error is that of the
  /// graded submission. If the graded submission has no error, the error is that of the last failed
  /// call. Empty if no call failed.
  std::string error_type, error_group;
};

/// Returns the stage at which the attempt ended. The function uses the graded submission. If
/// `score` contains earlier calls, it uses these calls too.
std::optional<FailureStage> failure_of(const tools::OperatorScore& score);

struct StageCount {
  std::string_view stage;
  std::int64_t attempts = 0;
  std::vector<metrics::GroupCount> groups;  // all four groups of TritonBench
  std::int64_t without_error = 0;
};

std::vector<StageCount> count_stages(const std::vector<std::optional<FailureStage>>& failures);

}  // namespace assay::report
