#include "server/observe/span_exporter.h"

#include <algorithm>
#include <chrono>
#include <string>
#include <vector>

#include "base/json.h"
#include "tests/catch.h"

namespace assay::server {
namespace {

constexpr std::chrono::seconds kBatchTimeout{10};

/// A collector that can be made to wait and to fail. Thread-safe.
class FakeCollector {
 public:
  Status take(const std::vector<Span>& spans) {
    MutexLock lock(mutex_);
    ++attempts_;
    changed_.notify_all();
    changed_.wait(lock, [this]() ASSAY_REQUIRES(mutex_) { return !closed_; });
    if (failures_ > 0) {
      --failures_;
      return fail(ErrorCode::unavailable, "no collector");
    }
    for (const Span& span : spans) names_.push_back(span.name);
    batches_.push_back(spans.size());
    changed_.notify_all();
    return {};
  }
  void close(bool closed) {
    const MutexLock lock(mutex_);
    closed_ = closed;
    changed_.notify_all();
  }
  void fail_times(int failures) {
    const MutexLock lock(mutex_);
    failures_ = failures;
  }
  bool has_attempts(int attempts) {
    MutexLock lock(mutex_);
    return changed_.wait_for(lock, kBatchTimeout,
                             [&]() ASSAY_REQUIRES(mutex_) { return attempts_ >= attempts; });
  }
  bool has_spans(std::size_t spans) {
    MutexLock lock(mutex_);
    return changed_.wait_for(lock, kBatchTimeout,
                             [&]() ASSAY_REQUIRES(mutex_) { return names_.size() >= spans; });
  }
  std::size_t spans() {
    const MutexLock lock(mutex_);
    return names_.size();
  }
  std::size_t largest_batch() {
    const MutexLock lock(mutex_);
    return *std::max_element(batches_.begin(), batches_.end());
  }

 private:
  Mutex mutex_;
  Condition changed_;
  int attempts_ ASSAY_GUARDED_BY(mutex_) = 0;
  int failures_ ASSAY_GUARDED_BY(mutex_) = 0;
  bool closed_ ASSAY_GUARDED_BY(mutex_) = false;
  std::vector<std::string> names_ ASSAY_GUARDED_BY(mutex_);
  std::vector<std::size_t> batches_ ASSAY_GUARDED_BY(mutex_);
};

Span span_named(const std::string& name) {
  Span span;
  span.place = TraceParent::below(std::nullopt);
  span.name = name;
  return span;
}

SpanExporter::Send to(FakeCollector& collector) {
  return [&collector](const std::vector<Span>& spans) { return collector.take(spans); };
}

}  // namespace

TEST_CASE("span exporter: spans are sent in batches") {
  FakeCollector collector;
  SpanExporter exporter({.queued = 100, .batch = 4, .delay_ms = 1}, to(collector));
  for (int i = 0; i < 10; ++i) exporter.add(span_named(std::to_string(i)));
  REQUIRE(collector.has_spans(10));
  CHECK(collector.largest_batch() <= 4);
}

TEST_CASE("span exporter: a full queue drops spans and never waits") {
  FakeCollector collector;
  collector.close(true);
  SpanExporter exporter({.queued = 2, .batch = 1, .delay_ms = 1}, to(collector));
  exporter.add(span_named("sent"));
  REQUIRE(collector.has_attempts(1));
  for (int i = 0; i < 5; ++i) exporter.add(span_named("more"));
  CHECK(exporter.counts().queue_full == 3);
  CHECK(exporter.counts().queued == 2);
  collector.close(false);
  REQUIRE(collector.has_spans(3));
}

TEST_CASE("span exporter: a batch is sent again, and dropped after the last attempt") {
  FakeCollector collector;
  collector.fail_times(1);
  {
    SpanExporter exporter({.batch = 1, .delay_ms = 1, .pause_ms = 1, .attempts = 2}, to(collector));
    exporter.add(span_named("late"));
    REQUIRE(collector.has_spans(1));
  }
  collector.fail_times(2);
  SpanExporter exporter({.batch = 1, .delay_ms = 1, .pause_ms = 1, .attempts = 2}, to(collector));
  exporter.add(span_named("lost"));
  REQUIRE(collector.has_attempts(4));
  exporter.add(span_named("kept"));
  REQUIRE(collector.has_spans(2));
  CHECK(exporter.counts().send_failed == 1);
}

TEST_CASE("span exporter: its end sends all that waits") {
  FakeCollector collector;
  {
    SpanExporter exporter({.batch = 4, .delay_ms = 3'600'000}, to(collector));
    for (int i = 0; i < 10; ++i) exporter.add(span_named("waits"));
  }
  CHECK(collector.spans() == 10);
}

TEST_CASE("span: the JSON of OTLP") {
  Span span = span_named("call");
  span.parent_id = "b7ad6b7169203331";
  span.kind = Span::Kind::server;
  span.start_ns = 1'000;
  span.end_ns = 2'000;
  span.failed = true;
  span.add("a", "text");
  span.add("empty", "");
  span.attributes.emplace_back("n", std::int64_t{3});
  const nlohmann::json request =
      nlohmann::json::parse(otlp_request({span}, {.name = "assay", .version = "1"}));
  const nlohmann::json& resource = request["resourceSpans"][0];
  CHECK(resource["resource"]["attributes"][0]["value"]["stringValue"] == "assay");
  const nlohmann::json& sent = resource["scopeSpans"][0]["spans"][0];
  CHECK(sent["traceId"] == span.place.trace_id);
  CHECK(sent["spanId"] == span.place.span_id);
  CHECK(sent["parentSpanId"] == span.parent_id);
  CHECK(sent["kind"] == 2);
  CHECK(sent["startTimeUnixNano"] == "1000");
  CHECK(sent["status"]["code"] == 2);
  CHECK(sent["attributes"].size() == 2);
  CHECK(sent["attributes"][1]["value"]["intValue"] == "3");
}

}  // namespace assay::server
