#include "server/observe/span_exporter.h"

#include <algorithm>
#include <chrono>
#include <iterator>
#include <utility>

#include "base/log.h"

namespace assay::server {

SpanExporter::SpanExporter(const SpanLimits& limits, Send send, const Clock& clock)
    : limits_(limits),
      send_(std::move(send)),
      clock_(clock),
      thread_([this](const std::stop_token& stop) { run(stop); }) {}

SpanExporter::~SpanExporter() {
  thread_.request_stop();
  thread_.join();
}

void SpanExporter::add(Span span) {
  {
    const MutexLock lock(mutex_);
    if (queue_.size() >= limits_.queued) {
      ++counts_.queue_full;
      return;
    }
    queue_.push_back(std::move(span));
    // The thread waits for the first span, and then until the batch is full.
    if (queue_.size() != 1 && queue_.size() != limits_.batch) return;
  }
  changed_.notify_all();
}

SpanExporter::Counts SpanExporter::counts() const {
  const MutexLock lock(mutex_);
  Counts now = counts_;
  now.queued = queue_.size();
  return now;
}

std::vector<Span> SpanExporter::take_batch() {
  const auto end =
      queue_.begin() + static_cast<std::ptrdiff_t>(std::min(queue_.size(), limits_.batch));
  std::vector<Span> batch(std::make_move_iterator(queue_.begin()), std::make_move_iterator(end));
  queue_.erase(queue_.begin(), end);
  return batch;
}

void SpanExporter::run(const std::stop_token& stop) {
  while (true) {
    std::vector<Span> batch;
    {
      MutexLock lock(mutex_);
      changed_.wait(lock, stop, [this]() ASSAY_REQUIRES(mutex_) { return !queue_.empty(); });
      clock_.wait_until(changed_, lock, stop, clock_.monotonic_ns() + limits_.delay_ms * kNsPerMs,
                        [this]() ASSAY_REQUIRES(mutex_) { return queue_.size() >= limits_.batch; });
      batch = take_batch();
    }
    const bool ends = stop.stop_requested();
    if (ends && batch.empty()) return;
    const bool sent = batch.empty() || deliver(batch, ends ? 1 : limits_.attempts, stop);
    if (ends && !sent) break;
  }
  const MutexLock lock(mutex_);
  counts_.send_failed += queue_.size();
  queue_.clear();
}

bool SpanExporter::deliver(const std::vector<Span>& batch, int attempts,
                           const std::stop_token& stop) {
  Status sent;
  for (int attempt = 1; attempt <= attempts; ++attempt) {
    sent = send_(batch);
    if (sent || attempt == attempts ||
        !clock_.pause(std::chrono::milliseconds(limits_.pause_ms), stop))
      break;
  }
  {
    const MutexLock lock(mutex_);
    (sent ? counts_.sent : counts_.send_failed) += batch.size();
  }
  if (!sent)
    log::warning("spans are lost", {{"spans", batch.size()}, {"error", sent.error().message}});
  return sent.has_value();
}

}  // namespace assay::server
