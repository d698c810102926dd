// DistantRecorder records the submission of a job on another worker: it sends orders to the server,
// which passes them on, and takes the answers from an inbox. A worker that only launches gives one
// to each job.
//
//   DistantRecorder recorder(tag, inbox, [&](Message message) { put(std::move(message)); });
//   monitor.recorder = &recorder;
//
// Belongs to the job's thread.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "sandbox/record/recorder.h"
#include "server/workers/frame_inbox.h"
#include "server/workers/recording_messages.h"

namespace assay::server {

class DistantRecorder final : public sandbox::Recorder {
 public:
  using Put = std::function<void(Message)>;
  /// `inbox` gets the frames about this execution, and must outlive this object.
  DistantRecorder(JobTag tag, FrameInbox& inbox, Put put)
      : tag_(std::move(tag)), inbox_(inbox), put_(std::move(put)) {}

  std::optional<sandbox::CandidateResults> record(sandbox::JobExecution& run,
                                                  const sandbox::RecordRequest& request) override;
  Status take_place(sandbox::JobExecution& run) override;
  Result<std::vector<sandbox::Artifact>> disassemble(sandbox::JobExecution& run,
                                                     const std::string& target,
                                                     const std::string& plan) override;

 private:
  /// Returns the next frame about the present order.
  Result<sandbox::Frame> next(sandbox::JobExecution& run);
  std::optional<sandbox::CandidateResults> give_up(sandbox::JobExecution& run, const Error& error);
  Status handle(sandbox::JobExecution& run, const sandbox::RecordRequest& request,
                sandbox::Frame& frame, sandbox::CandidateResults& results);
  bool asked_about_hidden(sandbox::JobExecution& run, const sandbox::RecordRequest& request,
                          const sandbox::CandidateResults& results);

  const JobTag tag_;
  FrameInbox& inbox_;
  const Put put_;
  std::int64_t recording_ = 0;   // the number of the present order
  bool hidden_allowed_ = false;  // in the present order
};

}  // namespace assay::server
