// Progress of one request: at most ten notifications a second, each higher than the last, none
// after the request is over.
//
//   ProgressGate gate(token, notify);
//   gate.report(3, 10, "3 of 10 cases");        // dropped when it comes too early or does not rise
//   gate.close();
//
// Thread-safe: a handler may report from any of its threads.
#pragma once

#include <chrono>
#include <functional>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "base/mutex.h"

namespace assay::mcp {

class ProgressGate {
 public:
  using Notify = std::function<void(const nlohmann::json& notification)>;
  static constexpr std::chrono::milliseconds kMinInterval{100};

  /// A null token or a null `notify` makes every report a no-op.
  ProgressGate(nlohmann::json token, Notify notify,
               std::chrono::milliseconds min_interval = kMinInterval)
      : token_(std::move(token)), notify_(std::move(notify)), min_interval_(min_interval) {}

  /// `total` <= 0: unknown. An empty message is left out.
  void report(double progress, double total, const std::string& message);
  void close();

 private:
  const nlohmann::json token_;
  const Notify notify_;
  const std::chrono::milliseconds min_interval_;
  Mutex mutex_;
  bool closed_ ASSAY_GUARDED_BY(mutex_) = false;
  std::optional<double> last_ ASSAY_GUARDED_BY(mutex_);
  std::chrono::steady_clock::time_point last_sent_ ASSAY_GUARDED_BY(mutex_);
};

}  // namespace assay::mcp
