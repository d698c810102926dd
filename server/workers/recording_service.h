// RecordingService serves the orders of workers that launch, on a worker that only records.
//
//   RecordingService service(recorder, recorders);
//   std::vector<Message> last = service.serve({tag, job, inbox, put, stop});
//
// Thread-safe if the recorder is. Each call belongs to one thread.
#pragma once

#include <functional>
#include <stop_token>
#include <string>
#include <vector>

#include "sandbox/record/recorder.h"
#include "server/workers/frame_inbox.h"
#include "server/workers/recording_messages.h"

namespace assay::server {

/// One order, which is the first frame of `inbox`. The caller owns what this struct refers to.
struct RecordingTask {
  const JobTag& tag;
  const sandbox::Job& job;  // with its sources
  FrameInbox& inbox;
  std::function<void(Message)> put;  // sends a message
  std::stop_token stop;
};

class RecordingService {
 public:
  /// The recorder must outlive this object. `recorders` is the most candidates that record one
  /// submission at a time.
  RecordingService(sandbox::Recorder& recorder, int recorders)
      : recorder_(recorder), recorders_(recorders) {}

  /// Returns the answer to an order that is not done. `why` goes into the verdict of the job.
  static Message refuse(const JobTag& tag, const sandbox::Frame& order, const std::string& why);

  /// Waits for the order and does what it says. Hidden cases are recorded only after the message
  /// `record_hidden`, if the order asks for that. Returns the last messages, which the caller must
  /// send.
  std::vector<Message> serve(const RecordingTask& task) const;

 private:
  std::vector<Message> record(const RecordingTask& task, RecordingOrder order) const;
  std::vector<Message> disassemble(const RecordingTask& task, const RecordingOrder& order) const;

  sandbox::Recorder& recorder_;
  const int recorders_;
};

}  // namespace assay::server
