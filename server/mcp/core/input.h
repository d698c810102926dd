// Input that a handler needs from the client's user, model or host before it can go on (multi
// round-trip requests). A handler that lacks it answers with what it needs, and is called again
// with the answers. One way of writing serves every era: 2026-07-28 clients retry the call, the
// server asks older ones with requests of its own, and a task waits for tasks/update.
//
//   const auto name = context.inputs.find("user_name");
//   if (name == context.inputs.end()) return ToolResult{.input_required =
//   InputRequired{{{"user_name", elicitation("Your name?", schema)}}}};
//
// Answers come from the client: check them like arguments. Plain data.
//
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
#include "server/mcp/protocol/jsonrpc.h"

namespace assay::mcp {

struct InputRequest {
  std::string method;  // elicitation/create, sampling/createMessage or roots/list
  nlohmann::json params = nlohmann::json::object();
};

struct InputRequired {
  std::map<std::string, InputRequest> requests;  // by a key that the answers will carry
  /// The handler's memory between two rounds. The client carries it, sealed: it cannot be forged,
  /// used with other arguments, or kept for long; but it can be read, and used more than once.
  std::string state = {};
};

inline InputRequest elicitation(std::string message, nlohmann::json schema) {
  return {"elicitation/create",
          {{"message", std::move(message)}, {"requestedSchema", std::move(schema)}}};
}

/// {"key": {"method": ..., "params": ...}}
nlohmann::json to_json(const std::map<std::string, InputRequest>& requests);

/// A client may be asked only for what it declared. What it lacks (kMissingCapability, with
/// data.requiredCapabilities), or nothing.
std::optional<RpcError> missing_capability(const std::map<std::string, InputRequest>& requests,
                                           const nlohmann::json& client_capabilities);

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
