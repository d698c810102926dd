// Defines how a handler asks for input from the client's user, model or host. The handler returns
// InputRequired, and the server calls the handler again with the answers in its context. The same
// handler works in every protocol era; only the way of the answers differs. A 2026-07-28 client
// repeats the call with the answers. A task waits until the client sends tasks/update. A call of a
// legacy (session-based) client waits while ServerRequests asks the client.
//
//   if (!context.inputs.contains("name")) {
//     const InputRequest question = elicitation("Your name?", {{"type", "object"}});
//     return ToolResult{.input_required = InputRequired{{{"name", question}}}};
//   }
//
// Answers come from the client, so a handler checks them like arguments. ServerRequests is
// thread-safe, and several calls may wait simultaneously.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <stop_token>
#include <string>

#include "base/clock.h"
#include "base/json.h"
#include "base/mutex.h"
#include "base/result.h"
#include "server/mcp/protocol/jsonrpc.h"

namespace assay::mcp {

struct InputRequest {
  std::string method;  // elicitation/create, sampling/createMessage or roots/list
  nlohmann::json params = nlohmann::json::object();
};

struct InputRequired {
  /// The questions. The key of a question is the key under which its answer arrives.
  std::map<std::string, InputRequest> requests;
  /// The state that the handler needs when it is called again. In the legacy era and in a task, the
  /// server keeps the state. In any other call of the stateless era, the state is signed and
  /// travels through the client. So the client cannot change the state, use it with other
  /// arguments, or use it after its expiry. But the client can read the state, and can use it more
  /// than once.
  std::string state = {};
};

/// Returns a request that asks the user to fill in a form.
inline InputRequest elicitation(std::string message, nlohmann::json schema) {
  return {"elicitation/create",
          {{"message", std::move(message)}, {"requestedSchema", std::move(schema)}}};
}

/// Returns {"key": {"method": ..., "params": ...}}.
nlohmann::json to_json(const std::map<std::string, InputRequest>& requests);

/// Checks that the client declared every capability that the requests need, because MCP forbids a
/// server to ask for anything else. Returns nothing, or an error that names the missing
/// capabilities (kMissingCapability, data.requiredCapabilities).
std::optional<RpcError> missing_capability(const std::map<std::string, InputRequest>& requests,
                                           const nlohmann::json& client_capabilities);

/// The requests that the server sent to one legacy (session-based) client, and the client's
/// answers.
class ServerRequests {
 public:
  explicit ServerRequests(const Clock& clock = system_clock()) : clock_(clock) {}

  using Send = std::function<void(const nlohmann::json& message)>;

  /// Sends a request and waits for the client's result. Errors: cancelled if `stop` is requested;
  /// unavailable if the client refuses or does not answer in time.
  Result<nlohmann::json> ask(const std::string& method, const nlohmann::json& params,
                             const Send& send, std::stop_token stop,
                             std::chrono::milliseconds timeout);
  /// Hands the client's answer over to the ask() that waits for it. `body` has the member "result"
  /// or "error". Returns false if no ask() waits for this id.
  bool deliver(const nlohmann::json& id, nlohmann::json body);

 private:
  const Clock& clock_;
  Mutex mutex_;
  Condition arrived_;
  /// The answers by request id. An answer is empty until it arrives.
  std::map<std::string, std::optional<nlohmann::json>> waiting_ ASSAY_GUARDED_BY(mutex_);
  std::uint64_t next_ ASSAY_GUARDED_BY(mutex_) = 1;
};

}  // namespace assay::mcp
