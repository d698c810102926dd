// RequestContext connects the handler of a tool, resource or prompt with the call that it handles.
// With it, a handler can report progress, write log messages, and notice that the client no longer
// waits.
//
//   for (int step = 0; step < 10 && !context.cancelled(); ++step)
//     context.progress(step, 10, "step " + std::to_string(step));
//
// The context exists as long as the call. Until the handler returns, any of its threads may call
// the functions of the context. No function is null: in a default-constructed context, the
// functions do nothing.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <memory>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "server/mcp/protocol/protocol.h"

namespace assay::mcp {

/// The client that sent a request, with the name and the scopes of the client's token. The
/// application decides what each scope permits. A Caller is immutable, so threads may share it.
struct Caller {
  std::string name;
  std::vector<std::string> scopes;
  /// The URL of the identity provider that issued the token. The client can ask this provider for
  /// more scopes. Empty: the token is one of the token file.
  std::string issuer = {};
  std::int64_t expires_unix_ms = 0;  // the end of the token's validity; 0: none

  bool allows(std::string_view scope) const {
    return std::find(scopes.begin(), scopes.end(), scope) != scopes.end();
  }
};

/// Returns the name of the caller, or "" when the server has no tokens.
inline std::string name_of(const std::shared_ptr<const Caller>& caller) {
  return caller ? caller->name : std::string();
}

struct RequestContext {
  /// Sends notifications/progress if the request has a progress token. A report is dropped if it
  /// follows the previous report too soon, or if its value is not higher than the previous value.
  /// `total` is 0 if the total is unknown.
  std::function<void(double progress, double total, const std::string& message)> progress =
      [](double, double, const std::string&) {};
  /// The handler must pass this token to every wait. A stop is requested when the client cancels
  /// the call, when its session ends, and when the server shuts down. In the stateless era, a stop
  /// is also requested when the client disconnects.
  std::stop_token stop = {};
  bool cancelled() const { return stop.stop_requested(); }
  /// Returns true if `stop` was requested because the server shuts down. The handler should then
  /// not cancel durable work such as a stored job, because the next start of the server continues
  /// that work.
  std::function<bool()> server_ends = [] { return false; };
  /// Sends notifications/message if the client wants messages of this level. Over HTTP, log
  /// messages reach the client only if the answer is an event stream, for example because the tool
  /// is `interactive`.
  std::function<void(LogLevel level, const std::string& logger, const nlohmann::json& data)> log =
      [](LogLevel, const std::string&, const nlohmann::json&) {};
  /// Ends the client's event stream, so that the client must reconnect to get the rest of the
  /// stream. Does nothing if the client has no session over HTTP.
  std::function<void()> release_stream = [] {};
  /// The client that sent the request. Null when the server has no tokens.
  std::shared_ptr<const Caller> caller = nullptr;
  bool allows(std::string_view scope) const { return caller == nullptr || caller->allows(scope); }

  /// The client's answers by key (input.h). Each answer is an object.
  nlohmann::json inputs = nlohmann::json::object();
  std::string state = {};  // InputRequired::state of the round before; empty in the first round
  /// The capabilities that the client declared. A session-based client declares them for its
  /// session, a stateless client for each request.
  nlohmann::json client_capabilities = nlohmann::json::object();
  /// True if the call runs as a task. The work may then take long, because no connection waits for
  /// the answer.
  bool is_task = false;
  /// The span of the call (base/trace_parent.h), for work that the call starts. Empty: nobody
  /// observes the calls.
  std::string traceparent = {};
};

}  // namespace assay::mcp
