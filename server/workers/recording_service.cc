#include "server/workers/recording_service.h"

#include <optional>
#include <string>
#include <utility>

namespace assay::server {
namespace {

using sandbox::CandidateResults;
using sandbox::CaseDone;
using sandbox::Deadline;
using sandbox::JobExecution;

Message artifact_message(const RecordingTask& task, std::int64_t recording,
                         sandbox::Artifact artifact) {
  Message message{recording_tagged(kRecordedArtifactType, task.tag, recording),
                  std::move(artifact.bytes)};
  message.header["kind"] = std::move(artifact.kind);
  message.header["name"] = std::move(artifact.name);
  return message;
}

/// Sends the public cases, and waits for the answer of the worker that launches them.
bool may_go_on(const RecordingTask& task, std::int64_t recording,
               const std::vector<CaseDone>& open) {
  for (const CaseDone& done : open) task.put(recorded_case_message(task.tag, recording, done));
  task.put({recording_tagged(kRecordedPublicType, task.tag, recording)});
  while (true) {
    const Result<sandbox::Frame> answer =
        task.inbox.wait(Deadline::after_ms(sandbox::kForeverMs, task.stop));
    if (!answer) return false;
    if (read_recording(*answer) == recording) return answer->type() == kRecordHiddenType;
  }
}

}  // namespace

Message RecordingService::refuse(const JobTag& tag, const sandbox::Frame& order,
                                 const std::string& why) {
  sandbox::Job job;
  job.id = tag.job;
  sandbox::JobMonitor monitor;
  JobExecution run(job, monitor);
  run.fail_infrastructure({ErrorCode::corrupt, why}, "taking an order");
  const Result<std::int64_t> recording = read_recording(order);
  return recorded_message(tag, recording.value_or(1), {false, run.finish()});
}

std::vector<Message> RecordingService::serve(const RecordingTask& task) const {
  Result<sandbox::Frame> frame =
      task.inbox.wait(Deadline::after_ms(sandbox::kForeverMs, task.stop));
  if (!frame) return {};  // the server has cancelled the order before it came
  const bool records = frame->type() == kRecordType;
  Result<RecordingOrder> order = read_order(*frame);
  if (!order) {
    sandbox::JobMonitor monitor{.stop = task.stop};
    JobExecution run(task.job, monitor);
    run.fail_infrastructure(order.error(), "reading an order");
    const Result<std::int64_t> recording = read_recording(*frame);
    return {recorded_message(task.tag, recording.value_or(1), {false, run.finish()})};
  }
  if (records) return record(task, std::move(*order));
  return disassemble(task, *order);
}

std::vector<Message> RecordingService::record(const RecordingTask& task,
                                              RecordingOrder order) const {
  const std::int64_t recording = order.recording;
  sandbox::JobMonitor monitor{.stop = task.stop};
  monitor.stage_changed = [&](sandbox::Stage stage) {
    Message message{recording_tagged(kRecordingStageType, task.tag, recording)};
    message.header["stage"] = sandbox::to_string(stage);
    task.put(std::move(message));
  };
  JobExecution run(task.job, monitor);
  std::size_t sent = 0;
  if (order.asks)
    order.options.before_hidden = [&](const std::vector<CaseDone>& open) {
      sent = open.size();
      return may_go_on(task, recording, open);
    };
  if (order.options.candidates > 1) order.options.candidates = recorders_;
  const bool oracle = order.whose == sandbox::RecordedSource::oracle;
  std::optional<CandidateResults> results =
      recorder_.record(run, {.prepared = order.prepared,
                             .cases = sandbox::all_cases(order.prepared),
                             .target = order.target,
                             .source = oracle ? task.job.baseline_source : task.job.source,
                             .options = order.options,
                             .whose = order.whose});
  std::vector<Message> messages;
  if (results) {
    for (CaseDone& done : results->cases) {
      const bool known = sent > 0 && !sandbox::is_hidden(task.job, done.id);
      if (!known) messages.push_back(recorded_case_message(task.tag, recording, std::move(done)));
    }
    for (sandbox::Artifact& artifact : results->artifacts)
      messages.push_back(artifact_message(task, recording, std::move(artifact)));
  }
  messages.push_back(recorded_message(task.tag, recording, {results.has_value(), run.finish()}));
  return messages;
}

std::vector<Message> RecordingService::disassemble(const RecordingTask& task,
                                                   const RecordingOrder& order) const {
  sandbox::JobMonitor monitor{.stop = task.stop};
  JobExecution run(task.job, monitor);
  Result<std::vector<sandbox::Artifact>> listings =
      recorder_.disassemble(run, order.target, order.plan);
  std::vector<Message> messages;
  if (listings) {
    for (sandbox::Artifact& listing : *listings)
      messages.push_back(artifact_message(task, order.recording, std::move(listing)));
  } else {
    run.verdict().detail = listings.error().message;
  }
  messages.push_back(
      recorded_message(task.tag, order.recording, {listings.has_value(), run.finish()}));
  return messages;
}

}  // namespace assay::server
