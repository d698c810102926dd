#include "sandbox/device/compiled_timer.h"

#include <utility>
#include <vector>

#include "sandbox/job/operator_revision.h"
#include "sandbox/job/verdict_builder.h"

namespace assay::sandbox {

Result<std::string> CompiledTimer::path_of(const Job& job) {
  const Result<JudgeReady> ready = judge(job.operator_dir).ready(Deadline::after_ms(kStartWallMs));
  if (!ready) return fail(ready.error());
  return compiled_times_path(state_dir_, ready->device_name, job.operator_name,
                             operator_revision(job.operator_dir));
}

Result<CompiledTimes> CompiledTimer::time(const Job& job) {
  const Result<std::string> path = path_of(job);
  if (!path) return fail(path.error());
  const Result<JudgeReady> ready = judge(job.operator_dir).ready(Deadline::after_ms(kStartWallMs));
  if (!ready) return fail(ready.error());
  // Only the costs of the cases are needed. They decide which cases a grade times.
  const Result<PreparedJob> prepared =
      judge(job.operator_dir).describe(job, Deadline::after_ms(kPrepareWallMs));
  if (!prepared) return fail(prepared.error());
  std::vector<CaseCost> costs;
  for (const PreparedCase& one : prepared->cases) costs.push_back({one.cost_bytes, one.cost_flops});
  const std::vector<bool> timed = worth_timing(costs);
  CompiledTimes times{.torch = ready->torch, .cases = {}};
  for (std::size_t i = 0; i < job.cases.size(); ++i)
    if (timed[i]) times.cases.push_back(time_case(job.operator_dir, job.cases[i]));
  if (Status written = write_compiled_times(*path, times); !written) return fail(written.error());
  return times;
}

CompiledTime CompiledTimer::time_case(const std::string& operator_dir, const CaseRequest& one) {
  Result<CompiledTime> timed =
      judge(operator_dir).time_compiled(operator_dir, one, Deadline::after_ms(kCompileWallMs));
  if (timed) return std::move(*timed);
  const std::string& message = timed.error().message;
  return {
      .case_id = one.id, .ns = std::nullopt, .unsupported = message.substr(0, message.find('\n'))};
}

}  // namespace assay::sandbox
