// Input that a handler needs from the client's user, model or host before it can go on. The handler
// answers with InputRequired, and is called again with the answers in its context. The same handler
// works in every era: a 2026-07-28 client repeats the call with the answers, a task waits for
// tasks/update, and ServerRequests asks a legacy client while the call waits.
//
//   if (!context.inputs.contains("name")) {
//     const InputRequest question = elicitation("Your name?", {{"type", "object"}});
//     return ToolResult{.input_required = InputRequired{{{"name", question}}}};
//   }
//
// Answers come from the client, so a handler checks them like arguments. ServerRequests is
// thread-safe, and several calls may wait at once.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <stop_token>
#include <string>

#include "base/clock.h"
#include "base/mutex.h"
#include "base/result.h"
#include "server/mcp/protocol/jsonrpc.h"

namespace assay::mcp {

struct InputRequest {
  std::string method;  // elicitation/create, sampling/createMessage or roots/list
  nlohmann::json params = nlohmann::json::object();
};

struct InputRequired {
  std::map<std::string, InputRequest> requests;  // by the key of the answer
  /// The state of the handler between two rounds. The client carries it, signed. So the client
  /// cannot change it, use it with other arguments, or keep it for long. The client can read it and
  /// use it more than once.
  std::string state = {};
};

/// Asks the user to fill in a form.
inline InputRequest elicitation(std::string message, nlohmann::json schema) {
  return {"elicitation/create",
          {{"message", std::move(message)}, {"requestedSchema", std::move(schema)}}};
}

/// {"key": {"method": ..., "params": ...}}
nlohmann::json to_json(const std::map<std::string, InputRequest>& requests);

/// A server may ask a client only for what the client declared. Returns the refusal that names the
/// missing capabilities (kMissingCapability, data.requiredCapabilities), or nothing.
std::optional<RpcError> missing_capability(const std::map<std::string, InputRequest>& requests,
                                           const nlohmann::json& client_capabilities);

/// The requests of the server to one legacy client, and their answers.
class ServerRequests {
 public:
  explicit ServerRequests(const Clock& clock = system_clock()) : clock_(clock) {}

  using Send = std::function<void(const nlohmann::json& message)>;

  /// Sends a request and waits for the client's result. The Error is `cancelled` when `stop`
  /// is requested, and `unavailable` when the client refuses or does not answer in time.
  Result<nlohmann::json> ask(const std::string& method, const nlohmann::json& params,
                             const Send& send, std::stop_token stop,
                             std::chrono::milliseconds timeout);
  /// Hands over an answer; `body` has "result" or "error". Returns false when no request with this
  /// id waits.
  bool deliver(const nlohmann::json& id, nlohmann::json body);

 private:
  const Clock& clock_;
  Mutex mutex_;
  Condition arrived_;
  /// The answers by request id, empty until they arrive.
  std::map<std::string, std::optional<nlohmann::json>> waiting_ ASSAY_GUARDED_BY(mutex_);
  std::uint64_t next_ ASSAY_GUARDED_BY(mutex_) = 1;
};

}  // namespace assay::mcp
