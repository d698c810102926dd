// What the HTTP server counts about itself, for GET /metrics. Names are listed in
// docs/how-to/run-http-server.md.
//
//   metrics.count_response(200);
//   metrics.write(text, dispatcher.counts());
//
// Lock-free and thread-safe: a response costs one atomic increment.
//
// Prometheus' text format, version 0.0.4: what GET /metrics answers.
//
//   MetricsText text;
//   text.family("assay_jobs_queued", "gauge", "Jobs that wait for a device.");
//   text.sample("assay_jobs_queued", {{"device", "cuda:0"}}, 3);
//
// Belongs to one thread.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "server/mcp/core/message_counts.h"

namespace assay::mcp {

class MetricsText {
 public:
  using Labels = std::vector<std::pair<std::string_view, std::string_view>>;
  static constexpr const char* kContentType = "text/plain; version=0.0.4; charset=utf-8";

  /// Begins a metric; `type` is counter, gauge or histogram. Its samples follow.
  void family(std::string_view name, std::string_view type, std::string_view help);
  void sample(std::string_view name, const Labels& labels, double value);
  /// Family and only sample at once.
  void gauge(std::string_view name, std::string_view help, double value);

  const std::string& text() const { return text_; }

 private:
  std::string text_;
};

class HttpMetrics {
 public:
  /// An HTTP response, by its status.
  void count_response(int status);

  /// The responses, the messages (`counts`), and the process's own figures: start time, memory,
  /// threads.
  void write(MetricsText& out, const MessageCounts& counts) const;

 private:
  static constexpr std::size_t kStatuses = 19;

  std::array<std::atomic<std::uint64_t>, kStatuses> responses_{};
};

}  // namespace assay::mcp
