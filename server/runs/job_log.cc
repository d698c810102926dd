#include "server/runs/job_log.h"

#include <array>
#include <cstdio>
#include <string>

#include "base/log.h"

namespace assay::server {
namespace {

/// "queue:0.1,execute:812.4", in milliseconds.
std::string stage_times(const sandbox::Verdict& verdict) {
  std::string text;
  for (const auto& [stage, ms] : verdict.stage_ms) {
    std::array<char, 48> number{};
    std::snprintf(number.data(), number.size(), "%.1f", ms);
    if (!text.empty()) text += ',';
    text.append(stage).append(":").append(number.data());
  }
  return text;
}

}  // namespace

void log_finished_job(const sandbox::Job& job, tools::JobState state,
                      const sandbox::Verdict& verdict) {
  log::info("job finished", {{"job", job.id},
                             {"kind", sandbox::to_string(job.kind)},
                             {"operator", job.operator_name},
                             {"device", verdict.provenance.device},
                             {"state", tools::to_string(state)},
                             {"outcome", sandbox::to_string(verdict.outcome)},
                             {"error", sandbox::to_string(verdict.error_kind)},
                             {"ended_in", sandbox::to_string(verdict.stage)},
                             {"tier", sandbox::to_string(verdict.tier)},
                             {"stages_ms", stage_times(verdict)}});
}

}  // namespace assay::server
