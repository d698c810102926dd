#include "server/workers/recording_relay.h"

#include <utility>

#include "server/workers/recording_messages.h"

namespace assay::server {

using sandbox::Deadline;

RecordingRelay::RecordingRelay(Fleet& records, About about, Answer answer, Failed failed)
    : records_(records),
      about_(about),
      answer_(std::move(answer)),
      failed_(std::move(failed)),
      thread_([this](const std::stop_token& stop) { serve(stop); }) {}

void RecordingRelay::stop() {
  thread_.request_stop();
  if (thread_.joinable()) thread_.join();
  lease_.reset();
}

std::string RecordingRelay::recorder() const {
  const MutexLock lock(mutex_);
  return recorder_;
}

void RecordingRelay::serve(const std::stop_token& stop) {
  while (true) {
    Result<sandbox::Frame> order = inbox_.wait(Deadline::after_ms(sandbox::kForeverMs, stop));
    if (!order) {
      // A cancellation is the end of the execution. Otherwise the worker that records was lost, and
      // an order that comes later would have no answer.
      if (order.error().code != ErrorCode::cancelled) failed_(order.error());
      return;
    }
    const std::string type = order->type();
    if (type != kPlaceType && !is_order(type)) continue;  // about an order that is over
    if (const Status served = serve_one(std::move(*order), stop); !served) {
      if (served.error().code != ErrorCode::cancelled) failed_(served.error());
      return;
    }
  }
}

Status RecordingRelay::serve_one(sandbox::Frame order, const std::stop_token& stop) {
  if (!lease_) {
    Result<Fleet::Lease> lease = records_.take(
        stop, {.alone = about_.alone, .batch = about_.job.batch, .run = about_.job.run});
    if (!lease) {
      if (lease.error().code == ErrorCode::cancelled) return fail(lease.error());
      return fail(ErrorCode::resource_exhausted, lease.error().message);
    }
    lease_.emplace(std::move(*lease));
    const MutexLock lock(mutex_);
    recorder_ = lease_->worker();
  }
  Status carried;
  if (order.type() == kPlaceType) {
    order.header["type"] = kPlacedType;
    carried = answer_(std::move(order));
  } else {
    carried =
        records_.carry(*lease_, {about_.job, about_.tag, inbox_, answer_}, std::move(order), stop);
  }
  if (carried || carried.error().code == ErrorCode::cancelled) return carried;
  // One of the two workers is lost. Only take() may say that none starts, whatever code an answer
  // that could not be sent has.
  return fail(ErrorCode::unavailable, carried.error().message);
}

}  // namespace assay::server
