// What the HTTP server counts about itself, for GET /metrics. Names are listed in
// docs/how-to/run-http-server.md.
//
//   metrics.count("tools/call", HttpMetrics::Outcome::ok, 0.004);
//
// Lock-free and thread-safe: a request adds a few atomic increments.
#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <string_view>

#include "server/mcp/http/metrics_text.h"

namespace assay::mcp {

class HttpMetrics {
 public:
  using Clock = std::chrono::steady_clock;

  enum class Outcome {
    ok,         // a result
    failed,     // a tool's result with isError
    error,      // a JSON-RPC error
    cancelled,  // the client took the call back or hung up
    accepted,   // a notification or response: nothing to answer
  };

  /// A message that was handled in `seconds`. Methods that are not MCP's are counted together.
  void count(std::string_view method, Outcome outcome, double seconds);
  /// An HTTP response, by its status; a refusal of the guard in front of the HTTP library as well.
  void count_response(int status);

  /// What this object counted, and the process's own figures (start time, memory, threads).
  void write(MetricsText& out) const;

 private:
  static constexpr std::size_t kOutcomes = 5;
  static constexpr std::size_t kMethods = 32;  // at least as many as are named in http_metrics.cc
  static constexpr std::size_t kBuckets = 14;
  static constexpr std::size_t kStatuses = 19;

  std::array<std::array<std::atomic<std::uint64_t>, kOutcomes>, kMethods> messages_{};
  std::array<std::atomic<std::uint64_t>, kBuckets> buckets_{};
  std::atomic<std::uint64_t> nanoseconds_{0};
  std::array<std::atomic<std::uint64_t>, kStatuses> responses_{};
};

}  // namespace assay::mcp
