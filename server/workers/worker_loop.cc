#include "server/workers/worker_loop.h"

#include <algorithm>
#include <chrono>
#include <exception>
#include <memory>
#include <thread>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/log.h"
#include "sandbox/wire/header_reader.h"
#include "server/workers/distant_recorder.h"

namespace assay::server {
namespace {

using sandbox::Deadline;
using sandbox::Verdict;

/// The time that a server has to read a message. A server that reads nothing for so long has gone.
constexpr std::int64_t kWriteMs = 60'000;

Verdict failed_verdict(const sandbox::Job& job, std::string summary) {
  Verdict verdict;
  verdict.tells_hidden = false;
  verdict.job = job.id;
  verdict.kind = job.kind;
  verdict.operator_name = job.operator_name;
  verdict.error_kind = sandbox::ErrorKind::internal_error;
  verdict.summary = std::move(summary);
  verdict.tier_reason = "nothing ran";
  return verdict;
}

}  // namespace

WorkerLoop::WorkerLoop(sandbox::Device& device, WorkerHello hello, Place place, Evaluate evaluate,
                       const RecordingService* recordings)
    : device_(device),
      hello_(std::move(hello)),
      place_(std::move(place)),
      evaluate_(std::move(evaluate)),
      recordings_(recordings) {}

Status WorkerLoop::serve(int in, int out, const std::stop_token& drain) {
  put({to_json(hello_)});
  Status served;
  {
    std::vector<std::jthread> threads;
    threads.emplace_back([this, out] { write(out); });
    for (int i = 0; i < hello_.device.concurrency; ++i) threads.emplace_back([this] { work(); });
    served = read(in, drain);
    ended_.request_stop();
    const MutexLock lock(mutex_);
    for (const auto& [tag, running] : jobs_) running->stop.request_stop();
  }
  const MutexLock lock(mutex_);
  if (served && write_error_) return fail(*write_error_);
  return served;
}

Status WorkerLoop::read(int in, const std::stop_token& drain) {
  const std::stop_callback on_signal(
      drain, [this] { begin_drain("the worker received a signal to stop"); });
  while (true) {
    Result<sandbox::Frame> frame =
        sandbox::receive_frame(in, Deadline::after_ms(sandbox::kForeverMs, settled_.get_token()));
    if (frame) {
      ASSAY_RETURN_IF_ERROR(handle(std::move(*frame)));
      continue;
    }
    // The end of the input, and the end of the last job, are the orderly ends.
    if (frame.error().code == ErrorCode::unavailable) return {};
    if (frame.error().code == ErrorCode::cancelled) return {};
    return fail(frame.error());
  }
}

Status WorkerLoop::handle(sandbox::Frame frame) {
  const std::string type = frame.type();
  if (type == kDrainType) {
    begin_drain("the server asked for it");
    return {};
  }
  ASSAY_TRY(tag, read_tag(frame));
  if (type == kJobType || (type == kRecordJobType && recordings_ != nullptr))
    return begin(frame, tag);
  if (type == kEvaluateType && evaluate_) return begin_evaluation(frame, tag);
  const bool about_recording = recordings_ != nullptr
                                   ? is_from_launcher(type)
                                   : hello_.revision.role == kRoleLaunch && is_from_recorder(type);
  if (about_recording) {
    handle_recording(std::move(frame), tag);
    return {};
  }
  if (type != kCancelType)
    return fail(ErrorCode::corrupt, "unknown message '" + type + "'; valid: " + kJobType + ", " +
                                        kEvaluateType + ", " + kCancelType + ", " + kDrainType);
  const MutexLock lock(mutex_);
  if (const auto found = jobs_.find(tag); found != jobs_.end()) found->second->stop.request_stop();
  return {};
}

void WorkerLoop::handle_recording(sandbox::Frame frame, const JobTag& tag) {
  const bool orders = is_order(frame.type());
  const MutexLock lock(mutex_);
  const auto found = jobs_.find(tag);
  if (orders && (found == jobs_.end() || found->second->has_order)) {
    log::error("an order was refused", {{"job", tag.job}, {"attempt", tag.attempt}});
    messages_.push_back(RecordingService::refuse(
        tag, frame, found == jobs_.end() ? "its job did not come" : "its job has another order"));
    changed_.notify_all();
  } else if (found != jobs_.end()) {
    found->second->has_order |= orders;
    found->second->inbox.put(std::move(frame));
  }
}

Status WorkerLoop::begin(const sandbox::Frame& frame, const JobTag& tag) {
  ASSAY_TRY(job, read_job(frame));
  const auto running = std::make_shared<Running>();
  running->job = std::move(job);
  running->is_recording = frame.type() == kRecordJobType;
  return add(tag, running);
}

Status WorkerLoop::begin_evaluation(const sandbox::Frame& frame, const JobTag& tag) {
  sandbox::HeaderReader in(frame.header, kEvaluateType);
  const std::string input_seed = in.optional_text("input_seed");
  ASSAY_RETURN_IF_ERROR(in.status());
  tl::expected<Requested, nlohmann::json> requested = evaluate_(tag, frame.payload, input_seed);
  if (!requested) {
    put(result_message(tag, requested.error()));
    return {};
  }
  const auto running = std::make_shared<Running>();
  running->job = std::move(requested->job);
  running->result = std::move(requested->result);
  running->begin_ns = system_clock().monotonic_ns();
  return add(tag, running);
}

Status WorkerLoop::add(const JobTag& tag, const std::shared_ptr<Running>& running) {
  const MutexLock lock(mutex_);
  if (!jobs_.emplace(tag, running).second) {
    // The order that follows is refused, so the orders of other jobs go on.
    if (running->is_recording) return {};
    return fail(ErrorCode::corrupt, "job " + tag.job + " came twice");
  }
  waiting_.push_back(tag);
  arrived_.notify_one();
  return {};
}

void WorkerLoop::begin_drain(const std::string& why) {
  put({{{"type", kDrainingType}, {"reason", why}}});
  const MutexLock lock(mutex_);
  draining_ = true;
  changed_.notify_all();
}

void WorkerLoop::work() {
  while (true) {
    JobTag tag;
    std::shared_ptr<Running> running;
    {
      MutexLock lock(mutex_);
      arrived_.wait(lock, ended_.get_token(),
                    [&]() ASSAY_REQUIRES(mutex_) { return !waiting_.empty(); });
      if (ended_.stop_requested()) return;
      tag = waiting_.front();
      waiting_.pop_front();
      running = jobs_[tag];
    }
    std::vector<Message> last = answer(tag, *running);
    // The last message and the end come at once, because the next order of this execution has the
    // same tag and may follow immediately.
    const MutexLock lock(mutex_);
    for (Message& message : last) messages_.push_back(std::move(message));
    jobs_.erase(tag);
    changed_.notify_all();
  }
}

std::vector<Message> WorkerLoop::answer(const JobTag& tag, Running& running) {
  if (running.is_recording)
    return recordings_->serve({.tag = tag,
                               .job = running.job,
                               .inbox = running.inbox,
                               .put = [this](Message message) { put(std::move(message)); },
                               .stop = running.stop.get_token()});
  Verdict verdict = run(tag, running);
  if (!running.result) return verdict_messages(tag, std::move(verdict));
  const std::int64_t elapsed_ms = (system_clock().monotonic_ns() - running.begin_ns) / kNsPerMs;
  return {result_message(tag, running.result(std::move(verdict), elapsed_ms))};
}

Verdict WorkerLoop::run(const JobTag& tag, Running& running) {
  if (const Status placed = place_(running.job); !placed)
    return failed_verdict(running.job, "the worker cannot run the job: " + placed.error().message);
  sandbox::JobMonitor monitor{
      .stage_changed = [&](sandbox::Stage stage) { put(stage_message(tag, stage)); },
      .case_done =
          [&](std::int64_t done, std::int64_t total) {
            put(cases_message(tag, {done, total}));
          },
      .stop = running.stop.get_token()};
  DistantRecorder recorder(tag, running.inbox,
                           [this](Message message) { put(std::move(message)); });
  if (hello_.revision.role == kRoleLaunch) monitor.recorder = &recorder;
  try {
    return device_.execute(running.job, monitor);
  } catch (const std::exception& error) {
    return failed_verdict(running.job, std::string("the device failed: ") + error.what());
  }
}

void WorkerLoop::put(Message message) {
  const MutexLock lock(mutex_);
  messages_.push_back(std::move(message));
  changed_.notify_all();
}

std::optional<Message> WorkerLoop::next_message() {
  MutexLock lock(mutex_);
  changed_.wait_for(
      lock, ended_.get_token(), std::chrono::milliseconds(kAliveMs),
      [&]() ASSAY_REQUIRES(mutex_) { return !messages_.empty() || (draining_ && jobs_.empty()); });
  if (ended_.stop_requested()) return std::nullopt;
  if (messages_.empty() && draining_ && jobs_.empty()) {
    settled_.request_stop();
    return std::nullopt;
  }
  if (messages_.empty()) return Message{{{"type", kAliveType}}};
  Message next = std::move(messages_.front());
  messages_.pop_front();
  return next;
}

void WorkerLoop::write(int out) {
  while (std::optional<Message> message = next_message()) {
    const Status sent = sandbox::send_frame(out, message->header, message->payload, {},
                                            Deadline::after_ms(kWriteMs, ended_.get_token()));
    if (sent) continue;
    const MutexLock lock(mutex_);
    // At the end of the input the output is closed too, so nobody misses the messages.
    if (!ended_.stop_requested()) write_error_ = sent.error();
    settled_.request_stop();
    return;
  }
}

}  // namespace assay::server
