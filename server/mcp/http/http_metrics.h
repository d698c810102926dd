// What the HTTP server counts about itself, for GET /metrics. Names are listed in
// docs/how-to/run-http-server.md.
//
//   metrics.count_response(200);
//   metrics.write(text, dispatcher.counts());
//
// Lock-free and thread-safe: a response costs one atomic increment.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>

#include "server/mcp/core/message_counts.h"
#include "server/mcp/http/metrics_text.h"

namespace assay::mcp {

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
