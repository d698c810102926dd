// VerdictQueue stores the verdicts of all devices on a thread of its own, so that the next job need
// not wait for the disk. Verdicts that arrive while the thread writes are stored together, in one
// commit. Then the thread announces them. A verdict that cannot be stored is tried again later
// (VerdictWriter::Patience), and the others do not wait for it.
//
//   const auto announce = [&](ActiveJob& job, const sandbox::Verdict& verdict) {
//     show(job, verdict);
//   };
//   VerdictQueue queue(writer, clock, 64, stop, announce);
//   queue.push(job, std::move(verdict));
//
// Thread-safe. When `stop` is requested, the thread makes a last attempt to store the verdicts that
// it has, and ends.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <stop_token>
#include <thread>
#include <vector>

#include "base/clock.h"
#include "base/mutex.h"
#include "sandbox/job/job.h"
#include "server/runs/active_job.h"
#include "server/runs/verdict_writer.h"

namespace assay::server {

class VerdictQueue {
 public:
  /// Gets the verdict that callers may see. The thread of the queue calls it.
  using Announce = std::function<void(ActiveJob& job, sandbox::Verdict verdict)>;

  /// While `most` verdicts wait, push() waits. Verdicts that are tried again later count too.
  VerdictQueue(VerdictWriter& writer, const Clock& clock, std::size_t most, std::stop_token stop,
               Announce announce);
  ~VerdictQueue() = default;
  VerdictQueue(const VerdictQueue&) = delete;
  VerdictQueue& operator=(const VerdictQueue&) = delete;

  /// Adds the verdict. While the queue is full, waits. If `stop` is requested, the verdict may be
  /// dropped, and the job stays unfinished.
  void push(std::shared_ptr<ActiveJob> job, sandbox::Verdict verdict);
  /// Returns how many callers of push() wait for room. Tests need to know it.
  std::size_t callers_without_room() const;

 private:
  struct Waiting {
    std::shared_ptr<ActiveJob> job;
    sandbox::Verdict verdict;
    int attempts = 0;         // that failed
    std::int64_t due_ns = 0;  // no attempt begins before this time
  };
  void work();
  /// Waits until a verdict is due or `stop` is requested. Takes the verdicts that are due, after a
  /// stop request all of them.
  std::vector<Waiting> take() ASSAY_EXCLUDES(mutex_);
  /// Makes one attempt to store the verdicts. Those that could not be stored wait again, except if
  /// this was the `last` attempt.
  void store(std::vector<Waiting> together, bool last) ASSAY_EXCLUDES(mutex_);

  VerdictWriter& writer_;
  const Clock& clock_;
  const std::size_t most_;
  const std::stop_token stop_;
  const Announce announce_;
  mutable Mutex mutex_;
  Condition arrived_, taken_;
  std::size_t callers_ ASSAY_GUARDED_BY(mutex_) = 0;
  std::vector<Waiting> waiting_ ASSAY_GUARDED_BY(mutex_);
  std::jthread thread_;  // the last member, so that it is joined first
};

}  // namespace assay::server
