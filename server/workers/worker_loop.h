// WorkerLoop serves the jobs of one server on one device: it is `assay worker`. It reads jobs from
// a stream, runs them, and writes their stages and verdicts to another stream. It ends when its
// input ends, or when it drains and the last job has ended.
//
//   WorkerLoop loop(device, hello, [&](sandbox::Job& job) { return place(catalog, job); });
//   const Status ended = loop.serve(in, out, signal.orderly());  // blocks
//
// A client without a server, such as a pool of Ray actors, sends requests instead of jobs: the
// function `evaluate` makes a job of each request, and a result of its verdict.
//
// serve() may be called once. Its threads end before it returns.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <tl/expected.hpp>
#include <vector>

#include "base/json.h"
#include "base/mutex.h"
#include "base/result.h"
#include "sandbox/job/device.h"
#include "server/workers/frame_inbox.h"
#include "server/workers/recording_service.h"
#include "server/workers/worker_messages.h"

namespace assay::server {

class WorkerLoop {
 public:
  /// Completes a job with what depends on this machine, such as the folder of its operator. An
  /// error becomes the verdict of the job.
  using Place = std::function<Status(sandbox::Job& job)>;

  /// What an `evaluate` message asks for. `result` makes the answer of the verdict.
  struct Requested {
    sandbox::Job job;
    std::function<nlohmann::json(sandbox::Verdict verdict, std::int64_t elapsed_ms)> result;
  };
  /// Reads the body of an `evaluate` message, whose job has this handle and these inputs
  /// (Job::input_seed). The error is the answer to a request that is refused.
  using Evaluate = std::function<tl::expected<Requested, nlohmann::json>(
      const JobTag& tag, const std::string& body, const std::string& input_seed)>;

  /// The device must outlive this object. Without `evaluate`, such a message is unknown. A worker
  /// with role record needs `recordings`.
  WorkerLoop(sandbox::Device& device, WorkerHello hello, Place place, Evaluate evaluate = nullptr,
             const RecordingService* recordings = nullptr);

  /// Serves the jobs that arrive on the descriptor `in`, and writes to `out`. Both may be pipes or
  /// sockets. A requested stop makes it accept no more jobs, and it returns when the jobs that it
  /// has are over. Errors: the input is malformed, or the output cannot be written.
  Status serve(int in, int out, const std::stop_token& drain);

 private:
  struct Running {
    sandbox::Job job;
    std::function<nlohmann::json(sandbox::Verdict, std::int64_t)> result;  // null: a server's job
    std::int64_t begin_ns = 0;
    bool is_recording = false;  // an order of another worker
    bool has_order = false;     // the order has come
    FrameInbox inbox;           // the frames about recordings
    std::stop_source stop;
  };

  /// Handles the messages of the server until the input ends or the worker has drained.
  Status read(int in, const std::stop_token& drain);
  Status handle(sandbox::Frame frame);
  /// Gives a frame about a recording to its job. An order that has no job, or whose job has an
  /// order already, is refused, because the worker that sent it waits for an answer.
  void handle_recording(sandbox::Frame frame, const JobTag& tag);
  Status begin(const sandbox::Frame& frame, const JobTag& tag);
  Status begin_evaluation(const sandbox::Frame& frame, const JobTag& tag);
  Status add(const JobTag& tag, const std::shared_ptr<Running>& running);
  void begin_drain(const std::string& why);
  /// Runs jobs until the loop ends.
  void work();
  sandbox::Verdict run(const JobTag& tag, Running& running);
  std::vector<Message> answer(const JobTag& tag, Running& running);
  /// Writes messages until the loop ends.
  void write(int out);
  void put(Message message);
  /// Waits for the next message. Returns `alive` if there is none for kAliveMs. Returns nothing if
  /// the loop has ended, or if the worker has drained and every message is written.
  std::optional<Message> next_message();

  sandbox::Device& device_;
  const WorkerHello hello_;
  const Place place_;
  const Evaluate evaluate_;                   // may be null
  const RecordingService* const recordings_;  // may be null
  std::stop_source ended_;                    // every thread ends
  std::stop_source settled_;                  // the worker drains and has no job left
  mutable Mutex mutex_;
  Condition arrived_;  // a job; the threads that run jobs wait for it
  Condition changed_;  // a message, or the end of a job; the thread that writes waits for it
  std::deque<Message> messages_ ASSAY_GUARDED_BY(mutex_);
  std::deque<JobTag> waiting_ ASSAY_GUARDED_BY(mutex_);
  std::map<JobTag, std::shared_ptr<Running>> jobs_ ASSAY_GUARDED_BY(mutex_);
  bool draining_ ASSAY_GUARDED_BY(mutex_) = false;
  std::optional<Error> write_error_ ASSAY_GUARDED_BY(mutex_);
};

}  // namespace assay::server
