// VerdictQueue stores the verdicts of a device's jobs on a thread of its own, so that the next job
// need not wait for the disk. Verdicts that arrive while the thread writes are stored together, in
// one commit. Then the thread announces them.
//
//   VerdictQueue queue(writer, 64, stop, [&](ActiveJob& job, const sandbox::Verdict& verdict) {
//     show(job, verdict);
//   });
//   queue.push(job, std::move(verdict));
//
// Thread-safe. When `stop` is requested, the thread stores the verdicts that it has, and ends.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <stop_token>
#include <thread>
#include <vector>

#include "base/mutex.h"
#include "sandbox/job/job.h"
#include "server/runs/active_job.h"
#include "server/runs/verdict_writer.h"

namespace assay::server {

class VerdictQueue {
 public:
  /// Gets the verdict that callers may see. The thread of the queue calls it.
  using Announce = std::function<void(ActiveJob& job, sandbox::Verdict verdict)>;

  /// `most` verdicts wait at most.
  VerdictQueue(VerdictWriter& writer, std::size_t most, std::stop_token stop, Announce announce);
  ~VerdictQueue() = default;
  VerdictQueue(const VerdictQueue&) = delete;
  VerdictQueue& operator=(const VerdictQueue&) = delete;

  /// Adds the verdict. While the queue is full, waits. If `stop` is requested, the verdict may be
  /// dropped, and the job stays unfinished.
  void push(std::shared_ptr<ActiveJob> job, sandbox::Verdict verdict);

 private:
  struct Waiting {
    std::shared_ptr<ActiveJob> job;
    sandbox::Verdict verdict;
  };
  void work();
  void store(std::vector<Waiting> together);

  VerdictWriter& writer_;
  const std::size_t most_;
  const std::stop_token stop_;
  const Announce announce_;
  Mutex mutex_;
  Condition arrived_, taken_;
  std::vector<Waiting> waiting_ ASSAY_GUARDED_BY(mutex_);
  std::jthread thread_;  // the last member, so that it is joined first
};

}  // namespace assay::server
