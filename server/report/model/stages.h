// Where attempts died: the first of the tools compile, run_tests and submit that no version of an
// attempt got past, and TritonBench's type of the error that it ended with. An attempt that is
// right has died nowhere, nor has one of which nothing was judged, or whose end was not its own
// doing (a GPU that is missing, a server that stopped). Pure functions.
//
//   row.death = death_of(score);                                         // {"run_tests",
//   "ResultsError", "Runtime & Logic"} std::vector<StageCount> stages = count_stages({row.death,
//   ...});     // of all three, also where nothing died
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

/// In the order in which an attempt comes by them.
inline constexpr std::array<std::string_view, 3> kAttemptStages = {"compile", "run_tests",
                                                                   "submit"};

/// compile: no version compiled. run_tests: one did, and none was right on the public cases.
/// submit: one was, but not where it was graded, or it was never submitted; then there may be no
/// error.
struct FailureStage {
  std::string stage;
  std::string error_type, error_group;  // TritonBench's, of the graded submission or else of the
                                        // last call that failed; empty: none failed
};

/// By the graded submission and by the calls before it, where `score` has them.
std::optional<FailureStage> death_of(const tools::OperatorScore& score);

struct StageCount {
  std::string_view stage;
  std::int64_t attempts = 0;
  std::vector<metrics::GroupCount> groups;  // all four
  std::int64_t without_error = 0;
};

std::vector<StageCount> count_stages(const std::vector<std::optional<FailureStage>>& deaths);

}  // namespace assay::report
