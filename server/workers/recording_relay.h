// RecordingRelay brings the orders of one execution of a job from the worker that launches to
// a worker that records, and the answers back. The execution keeps its place on that worker from
// its first order, or from its message `place`, to its end. So the worker that launches must send
// one of them before it takes what other jobs may wait for: its GPU, its judges, and the one place
// of a job with a judge of its own (sandbox/device/cuda.cc). Then a job that waits for a place
// holds nothing that a job with a place needs, and no two jobs wait for each other. The number of
// waiting jobs is at most the number of jobs that workers launch.
//
//   RecordingRelay relay(records, {.job = job, .tag = tag, .alone = false}, answer, failed);
//   relay.inbox().put(std::move(frame));  // a frame of the worker that launches
//   relay.stop();
//   verdict.provenance.recorder = relay.recorder();
//
// A thread serves the orders. Thread-safe.
#pragma once

#include <functional>
#include <optional>
#include <stop_token>
#include <string>
#include <thread>

#include "base/mutex.h"
#include "base/result.h"
#include "server/workers/fleet.h"
#include "server/workers/frame_inbox.h"

namespace assay::server {

class RecordingRelay {
 public:
  /// The execution. The caller owns the job and the tag.
  struct About {
    const sandbox::Job& job;
    const JobTag& tag;
    bool alone = false;  // the worker that records does nothing else meanwhile
  };
  using Answer = std::function<Status(sandbox::Frame)>;  // sends to the worker that launches
  /// Is told that the orders cannot be served. The code is unavailable if a worker was lost, and
  /// resource_exhausted if none starts.
  using Failed = std::function<void(const Error&)>;

  /// The fleet must outlive this object.
  RecordingRelay(Fleet& records, About about, Answer answer, Failed failed);
  ~RecordingRelay() { stop(); }
  RecordingRelay(const RecordingRelay&) = delete;
  RecordingRelay& operator=(const RecordingRelay&) = delete;

  FrameInbox& inbox() { return inbox_; }
  /// Cancels the present order, and waits until the relay uses nothing any more.
  void stop();
  /// Returns the name of the worker that recorded, or "".
  std::string recorder() const;

 private:
  void serve(const std::stop_token& stop);
  /// Makes sure that the execution has a worker that records, and gives it the order.
  Status serve_one(sandbox::Frame order, const std::stop_token& stop);

  Fleet& records_;
  const About about_;
  const Answer answer_;
  const Failed failed_;
  FrameInbox inbox_;
  std::optional<Fleet::Lease> lease_;  // only the thread uses it, and then stop()
  mutable Mutex mutex_;
  std::string recorder_ ASSAY_GUARDED_BY(mutex_);
  std::jthread thread_;
};

}  // namespace assay::server
