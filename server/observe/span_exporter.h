// SpanExporter sends spans to a collector, in batches and from a thread of its own. add() never
// waits: if the queue is full, it drops the span and counts it.
//
//   SpanExporter exporter({}, [&](const std::vector<Span>& spans) {
//     show(spans.size());
//     return Status();
//   });
//   exporter.add(span);
//
// Thread-safe. The destructor sends the spans that still wait, until a batch cannot be sent.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <stop_token>
#include <thread>
#include <vector>

#include "base/clock.h"
#include "base/mutex.h"
#include "base/result.h"
#include "server/observe/span.h"

namespace assay::server {

struct SpanLimits {
  std::size_t queued = 4096;      // spans that wait to be sent; further ones are dropped
  std::size_t batch = 512;        // spans in one request
  std::int64_t delay_ms = 1'000;  // the longest time that a span waits for its batch
  std::int64_t pause_ms = 1'000;  // between two attempts to send a batch
  int attempts = 3;               // to send one batch; after that its spans are dropped
};

class SpanExporter {
 public:
  /// Sends a batch. The end of the exporter waits for this function, so it must have a time limit.
  using Send = std::function<Status(const std::vector<Span>& spans)>;

  SpanExporter(const SpanLimits& limits, Send send, const Clock& clock = system_clock());
  ~SpanExporter();
  SpanExporter(const SpanExporter&) = delete;
  SpanExporter& operator=(const SpanExporter&) = delete;

  void add(Span span);

  struct Counts {
    std::uint64_t queued = 0, sent = 0;
    std::uint64_t queue_full = 0, send_failed = 0;  // dropped spans, by reason
  };
  Counts counts() const;

 private:
  void run(const std::stop_token& stop);
  std::vector<Span> take_batch() ASSAY_REQUIRES(mutex_);
  /// Sends the batch, and again after a failure until the attempts are used up. Returns false if
  /// the spans are lost.
  bool deliver(const std::vector<Span>& batch, int attempts, const std::stop_token& stop);

  const SpanLimits limits_;
  const Send send_;
  const Clock& clock_;
  mutable Mutex mutex_;
  Condition changed_;
  std::deque<Span> queue_ ASSAY_GUARDED_BY(mutex_);
  Counts counts_ ASSAY_GUARDED_BY(mutex_);
  std::jthread thread_;  // the last member, because it uses the others
};

}  // namespace assay::server
