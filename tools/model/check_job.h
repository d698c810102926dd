// Makes the jobs of a check: a kernel is compared with a reference that the same caller sent,
// without an operator. The command `check` and the tool `check` share these functions. Pure
// functions, thread-safe.
//
//   CheckRequest request;
//   request.reference = "def double(x): return 2 * x";
//   request.code = source;
//   request.reference_entry = request.entry = "double";
//   request.inputs = {"x=f32[{n}]"};
//   request.axes = {{"n", {1'000, 100'003}}};
//   Result<sandbox::Job> job = check_job(request, sandbox::Limits{}, sandbox::JobKind::test);
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "sandbox/job/job.h"

namespace assay::tools {

/// The first part of the operator's name in the verdict of a check. No operator's name has a colon.
inline constexpr std::string_view kCheckPrefix = "check:";
/// The maximum number of cases of a check.
inline constexpr std::size_t kMostCheckCases = 16;
/// The maximum number of inputs of a check.
inline constexpr std::size_t kMostCheckInputs = 32;
/// The maximum number of elements of all inputs of one case that a CPU's interpreter runs.
inline constexpr std::int64_t kInterpretedElements = 1 << 20;
/// The maximum number of bytes of all inputs of one case.
inline constexpr std::int64_t kMostCheckBytes = 1LL << 30;

struct CheckRequest {
  std::string reference, reference_entry;  // the reference's source, and its function
  std::string code, entry;                 // the kernel's source, and its function
  std::string language;                    // empty: Python
  std::vector<std::string> inputs;         // parse_check_input() reads them
  std::map<std::string, std::vector<std::int64_t>> axes;  // each combination is a case
  std::optional<double> tolerance;
};

/// Returns a job of kind `test` with all cases, or of kind `profile` with the case that has most
/// elements. Error: invalid_argument; the message names the valid values.
Result<sandbox::Job> check_job(const CheckRequest& request, const sandbox::Limits& limits,
                               sandbox::JobKind kind);

/// Returns true if the verdict is that of a check.
bool is_check(const sandbox::Verdict& verdict);

/// Adds what the profile of the largest case found to the verdict about all cases: the bound, the
/// kernels' figures, the hints, and the times if the case was timed.
void add_profile_of_check(sandbox::Verdict& tested, sandbox::Verdict profiled);

}  // namespace assay::tools
