// The part of a fleet that serves orders of workers that launch.
#include "server/workers/fleet.h"
#include "server/workers/fleet_seat.h"
#include "server/workers/recording_messages.h"

namespace assay::server {
namespace {

using sandbox::Deadline;

constexpr std::int64_t kPassMs = 30'000;  // the time that a worker has to read a frame

}  // namespace

std::string Fleet::agreed_target(const std::string& target) {
  const MutexLock lock(mutex_);
  if (target_.empty()) target_ = target;
  return target_;
}

Status Fleet::carry(const Lease& lease, const RecordingErrand& errand, sandbox::Frame order,
                    const std::stop_token& stop) {
  Seat& seat = *lease.seat_;
  Call call;
  call.recordings = &errand.inbox;
  {
    const MutexLock lock(mutex_);
    if (!seat.lost.empty()) return fail(ErrorCode::unavailable, seat.lost);
    seat.calls[errand.tag] = &call;
  }
  const auto pass_on = [&](const Message& message) -> Status {
    // A cancellation must not end a send, because a frame that is sent in part breaks the stream.
    const Status sent = seat.stream->send(message, Deadline::after_ms(kPassMs));
    if (sent) return {};
    seat.stream->hang_up();
    return fail(ErrorCode::unavailable, "worker " + seat.name + ": " + sent.error().message);
  };
  const auto forget = [&] {
    const MutexLock lock(mutex_);
    seat.calls.erase(errand.tag);
  };
  std::vector<sandbox::Frame> later;
  Status carried = [&]() -> Status {
    ASSAY_TRY(recording, read_recording(order));
    ASSAY_RETURN_IF_ERROR(pass_on(record_job_message(errand.job, errand.tag.attempt)));
    ASSAY_RETURN_IF_ERROR(pass_on({std::move(order.header), std::move(order.payload)}));
    while (true) {
      ASSAY_TRY(frame, errand.inbox.wait(Deadline::after_ms(sandbox::kForeverMs, stop)));
      ASSAY_TRY(about, read_recording(frame));
      const std::string type = frame.type();
      if (is_from_launcher(type) && about > recording) {
        // The worker that launches has given this order up, and the next one has come. The worker
        // that records takes one order of an execution at a time, so the next one waits.
        later.push_back(std::move(frame));
        continue;
      }
      if (is_from_launcher(type)) {
        ASSAY_RETURN_IF_ERROR(pass_on({std::move(frame.header), std::move(frame.payload)}));
        continue;
      }
      const bool is_last = type == kRecordedType && about == recording;
      // From here on the end of the worker that records does not matter to this order.
      if (is_last) forget();
      ASSAY_RETURN_IF_ERROR(errand.answer(std::move(frame)));
      if (is_last) return {};
    }
  }();
  if (carried) errand.inbox.put_first(std::move(later));
  if (!carried) {  // a worker that is lost takes no message, and then nothing changes
    if (!seat.stream->send({tagged(kCancelType, errand.tag)}, Deadline::after_ms(kPassMs)))
      seat.stream->hang_up();
  }
  forget();
  return carried;
}

}  // namespace assay::server
