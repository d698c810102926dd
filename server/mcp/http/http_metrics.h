// Provides the metrics of the HTTP server. HttpMetrics counts responses. MetricsText writes metrics
// in Prometheus' text format, version 0.0.4; the server answers GET /metrics in this format.
// docs/how-to/run-http-server.md lists the names of the metrics.
//
//   MetricsText text;
//   text.gauge("assay_jobs_running", "Jobs that run.", 2);
//   metrics.write(text, counts);
//
// HttpMetrics is thread-safe without locks: a response costs one atomic increment. MetricsText
// belongs to one thread.
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

  /// Begins a metric. sample() must then be called for each of its values. `type` is counter, gauge
  /// or histogram.
  void family(std::string_view name, std::string_view type, std::string_view help);
  void sample(std::string_view name, const Labels& labels, double value);
  /// Writes a gauge that has one sample without labels.
  void gauge(std::string_view name, std::string_view help, double value);

  const std::string& text() const { return text_; }

 private:
  std::string text_;
};

class HttpMetrics {
 public:
  /// Counts one HTTP response.
  void count_response(int status);

  /// Writes the numbers of responses, the statistics about messages (`counts`), and the metrics of
  /// the process: uptime, CPU time, memory, threads.
  void write(MetricsText& out, const MessageCounts& counts) const;

 private:
  static constexpr std::size_t kStatuses = 19;

  std::array<std::atomic<std::uint64_t>, kStatuses> responses_{};
};

}  // namespace assay::mcp
