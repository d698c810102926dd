// RequestContext gives the handler of a tool, resource or prompt access to its call. With it, a
// handler can report progress, log, and notice that the client no longer waits.
//
//   for (int step = 0; step < 10 && !context.cancelled(); ++step)
//     context.progress(step, 10, "step " + std::to_string(step));
//
// The context exists as long as the call. Until the handler returns, any of its threads may call
// the functions of the context. The functions are never null. In a default-constructed context they
// do nothing.
#pragma once

#include <algorithm>
#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "server/mcp/protocol/protocol.h"

namespace assay::mcp {

/// The client that sent a request, as the client's token names it. It is immutable, so threads may
/// share it. The application decides what each scope permits.
struct Caller {
  std::string name;
  std::vector<std::string> scopes;

  bool allows(std::string_view scope) const {
    return std::find(scopes.begin(), scopes.end(), scope) != scopes.end();
  }
};

/// Returns the name of the caller, or "" when the server has no tokens.
inline std::string name_of(const std::shared_ptr<const Caller>& caller) {
  return caller ? caller->name : std::string();
}

struct RequestContext {
  /// Sends notifications/progress if the request has a progress token. A report is dropped when it
  /// follows the previous report too soon, or when its value is not higher. `total` is 0 when the
  /// total is unknown.
  std::function<void(double progress, double total, const std::string& message)> progress =
      [](double, double, const std::string&) {};
  /// A stop is requested when the client cancels the call or, in the stateless era, disconnects.
  /// Pass the token to every wait.
  std::stop_token stop = {};
  bool cancelled() const { return stop.stop_requested(); }
  /// True when `stop` was requested because the server shuts down. The handler should then leave
  /// durable work as it is, because the next start of the server continues that work.
  std::function<bool()> server_ends = [] { return false; };
  /// Sends notifications/message if the client wants messages of this level. Over HTTP, only the
  /// answer of an `interactive` tool can carry log messages.
  std::function<void(LogLevel level, const std::string& logger, const nlohmann::json& data)> log =
      [](LogLevel, const std::string&, const nlohmann::json&) {};
  /// Ends the client's event stream, so that the client must reconnect to get the rest of the
  /// stream. Does nothing outside of sessions over HTTP.
  std::function<void()> release_stream = [] {};
  /// The client that sent the request. Null when the server has no tokens.
  std::shared_ptr<const Caller> caller = nullptr;
  bool allows(std::string_view scope) const { return caller == nullptr || caller->allows(scope); }

  /// The client's answers by key (input.h). Each answer is an object.
  nlohmann::json inputs = nlohmann::json::object();
  std::string state = {};  // InputRequired::state of the round before; empty in the first round
  /// The capabilities that the client declared: for its session or, in the stateless era, for this
  /// request.
  nlohmann::json client_capabilities = nlohmann::json::object();
  /// True when the call runs as a task. No connection waits for the answer, so the work may take
  /// long.
  bool is_task = false;
};

}  // namespace assay::mcp
