// Requests that the server puts to a legacy client (elicitation, sampling, roots), and the answers
// that come back as messages of their own.
//
//   Result<json> answer = questions.ask("roots/list", json::object(), send, cancelled, timeout); //
//   waits questions.deliver(message.id, message.body); // from another thread
//
// Thread-safe. Several may wait at once.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "base/mutex.h"
#include "base/result.h"

namespace assay::mcp {

class ServerRequests {
 public:
  using Send = std::function<void(const nlohmann::json& message)>;

  /// The client's result. `cancelled`: the call that asks was given up; `unavailable`: no answer in
  /// time, or the client's error.
  Result<nlohmann::json> ask(const std::string& method, const nlohmann::json& params,
                             const Send& send, const std::function<bool()>& cancelled,
                             std::chrono::milliseconds timeout);
  /// `body` has "result" or "error". False when nobody waits for that id.
  bool deliver(const nlohmann::json& id, nlohmann::json body);

 private:
  Mutex mutex_;
  Condition arrived_;
  /// The answers by request id; nothing until one arrives.
  std::map<std::string, std::optional<nlohmann::json>> waiting_ ASSAY_GUARDED_BY(mutex_);
  std::uint64_t next_ ASSAY_GUARDED_BY(mutex_) = 1;
};

}  // namespace assay::mcp
