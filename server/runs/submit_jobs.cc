// Implements StoredJobs::submit_all(): checks the jobs, stores all of them in one transaction, and
// queues them.
#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/handle.h"
#include "base/result.h"
#include "base/text.h"
#include "sandbox/job/device_class.h"
#include "server/runs/job_service.h"

namespace assay::server {

/// Notes in `storing_`, while it lives, that this thread stores jobs.
class StoredJobs::Storing {
 public:
  Storing(StoredJobs& owner, const std::vector<OfferedJob>& offered) : owner_(owner) {
    for (const OfferedJob& one : offered) jobs_.push_back(one.job->id);
    const MutexLock lock(owner_.mutex_);
    owner_.storing_.insert(jobs_.begin(), jobs_.end());
  }
  ~Storing() {
    {
      const MutexLock lock(owner_.mutex_);
      for (const std::string& job : jobs_) owner_.storing_.erase(job);
    }
    owner_.stored_.notify_all();
  }
  Storing(const Storing&) = delete;
  Storing& operator=(const Storing&) = delete;

 private:
  StoredJobs& owner_;
  std::vector<std::string> jobs_;
};

Result<DeviceQueue*> StoredJobs::admit(const tools::Principal& principal, tools::NewJob& offered) {
  DeviceQueue* queue = queue_of(offered.device);
  if (queue == nullptr)
    return fail(ErrorCode::invalid_argument, "unknown device '" + offered.device + "'; valid: " +
                                                 (queues_.empty() ? "none" : join(devices())));
  sandbox::Job& job = offered.job;
  if (job.reference && (job.kind == sandbox::JobKind::grade || !offered.run.empty()))
    return fail(ErrorCode::permission_denied, "a check is never scored and belongs to no run");
  ASSAY_RETURN_IF_ERROR(check_accepts_jobs());
  ASSAY_RETURN_IF_ERROR(recover_if_pending());
  if (job.id.empty()) job.id = new_handle("job");
  job.run = offered.run;
  job.caller = principal.name;
  ASSAY_RETURN_IF_ERROR(queue->reserve({principal.name, job.run}));
  return queue;
}

std::shared_ptr<const ComparableDevices> StoredJobs::comparable_with(
    const DeviceQueue& chosen) const {
  const sandbox::DeviceInfo mine = chosen.device().info();
  auto found = std::make_shared<ComparableDevices>();
  found->gpu = mine.hardware.name;
  for (const auto& queue : queues_) {
    sandbox::DeviceInfo other = queue->device().info();
    const bool same = queue.get() == &chosen || sandbox::grades_can_be_compared(mine, other);
    (same ? found->names : found->others).push_back(queue->name());
  }
  return found;
}

Result<std::string> StoredJobs::job_of_repeat(const tools::Principal& principal,
                                              tools::NewJob& offered) {
  if (offered.call_id.empty() || offered.run.empty()) return std::string();
  ASSAY_RETURN_IF_ERROR(recover_if_pending());
  offered.job.run = offered.run;
  return runs_.job_of_repeat(principal, offered.job, offered.call_id);
}

void StoredJobs::wait_until_stored(const std::vector<std::string>& jobs) {
  MutexLock lock(mutex_);
  stored_.wait(lock, stop_.get_token(), [&]() ASSAY_REQUIRES(mutex_) {
    return std::none_of(jobs.begin(), jobs.end(),
                        [&](const std::string& job)
                            ASSAY_REQUIRES(mutex_) { return storing_.count(job) > 0; });
  });
}

std::vector<Result<std::string>> StoredJobs::submit_all(const tools::Principal& principal,
                                                        std::vector<tools::NewJob> jobs) {
  std::vector<Result<std::string>> answers(jobs.size());
  std::vector<std::string> repeated;  // handles of jobs that other calls have stored
  std::vector<DeviceQueue*> queues(jobs.size(), nullptr);
  std::vector<OfferedJob> offered;
  std::vector<std::size_t> indices;
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    if (Result<std::string> earlier = job_of_repeat(principal, jobs[i]);
        !earlier || !earlier->empty()) {
      answers[i] = std::move(earlier);
      if (answers[i]) repeated.push_back(*answers[i]);
      continue;
    }
    Result<DeviceQueue*> queue = admit(principal, jobs[i]);
    if (!queue) {
      answers[i] = fail(queue.error());
      continue;
    }
    queues[i] = *queue;
    offered.push_back(
        {.job = &jobs[i].job, .device = (*queue)->name(), .call_id = jobs[i].call_id});
    if (jobs[i].job.kind == sandbox::JobKind::grade)
      offered.back().comparable = comparable_with(**queue);
    indices.push_back(i);
  }
  if (!offered.empty()) {
    const Storing storing(*this, offered);
    writer_.write_unstored();  // an error of the server must not use up the budget of the run
    std::vector<Result<std::string>> accepted = runs_.accept_all(principal, std::move(offered));
    for (std::size_t n = 0; n < indices.size(); ++n) {
      const std::size_t i = indices[n];
      const bool is_new = accepted[n] && *accepted[n] == jobs[i].job.id;
      answers[i] = std::move(accepted[n]);
      if (!is_new) {
        queues[i]->release({principal.name, jobs[i].job.run});
        if (answers[i]) repeated.push_back(*answers[i]);
        continue;
      }
      const auto active = std::make_shared<ActiveJob>(std::move(jobs[i].job), *queues[i], clock_);
      add(active);  // before push(), because a worker may finish the job immediately
      queues[i]->push(active);
    }
  }
  wait_until_stored(repeated);
  return answers;
}

}  // namespace assay::server
