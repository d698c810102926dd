#include "sandbox/device/record_device.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "sandbox/device/provenance.h"
#include "sandbox/job/operator_revision.h"
#include "sandbox/profile/static_figures.h"

namespace assay::sandbox {
namespace {

constexpr std::int64_t kCacheBytes = 64 << 20;  // enough for about a thousand plans

/// Returns the most orders at a time. An order keeps its candidates while a worker that launches
/// judges the public cases, so all of them must have candidates.
int order_count(const SandboxConfig& config) {
  const int most =
      (CandidatePool::kSlots - config.parked_candidates) / std::max(config.recorders, 1);
  return std::clamp(config.gpu_jobs, 1, std::max(most, 1));
}

}  // namespace

RecordDevice::RecordDevice(const SandboxConfig& config)
    : target_(config.compile_target),
      concurrency_(order_count(config)),
      limits_(config.job_limits),
      pool_(config, spawner_),
      judges_(config, spawner_, {.device = "cpu"}),
      recordings_(config, RecordingFolder::kMaxBytes),
      submissions_(kCacheBytes),
      oracles_(kCacheBytes, &recordings_) {}

DeviceInfo RecordDevice::info() const {
  const std::optional<PoolFacts> facts = pool_.facts();
  return {.name = kRecordDevice,
          .description = "records for " + target_ +
                         (facts ? " with Triton " + facts->versions.triton + " and Python " +
                                      facts->versions.python
                                : ""),
          .can_time = false,
          .best_tier = Tier::none,
          .default_target = target_,
          .concurrency = concurrency_};
}

std::map<std::string, std::int64_t> RecordDevice::processes() const {
  const CandidatePool::Counts candidates = pool_.counts();
  return {{"parked_candidates", candidates.parked}, {"candidates", candidates.used}};
}

Status RecordDevice::wait_until_ready(const Deadline& deadline) {
  Result<std::unique_ptr<Candidate>> first = pool_.take(limits_, deadline);
  if (!first) return fail(first.error());
  pool_.give_back(std::move(*first));
  return {};
}

Verdict RecordDevice::execute(const Job& job, JobMonitor& monitor) {
  JobExecution run(job, monitor);
  Provenance& provenance = run.verdict().provenance;
  provenance.device = kRecordDevice;
  provenance.device_name = kRecordDevice;
  provenance.operator_revision = operator_revision(job.operator_dir);
  run.verdict().tier_reason = "nothing was run";
  if (job.kind == JobKind::compile && job.plans.empty())
    compile_job(run, {local_, judges_.of(job.operator_dir).describer(), target_});
  else
    run.fail(ErrorKind::unsupported,
             "a worker with role record only compiles and records; a worker with role launch "
             "performs the plans");
  add_pool_facts(provenance, pool_.facts());
  run.conclude({});
  return run.finish();
}

std::optional<CandidateResults> RecordDevice::record(JobExecution& run,
                                                     const RecordRequest& request) {
  std::optional<CandidateResults> results = local_.record(run, request);
  add_pool_facts(run.verdict().provenance, pool_.facts());
  return results;
}

Result<std::vector<Artifact>> RecordDevice::disassemble(JobExecution& run,
                                                        const std::string& target,
                                                        const std::string& plan) {
  return local_.disassemble(run, target, plan);
}

}  // namespace assay::sandbox
