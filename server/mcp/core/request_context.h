// RequestContext is what the handler of a tool, resource or prompt knows of its call, and what it
// may do besides answering: report progress, log, and notice that the client waits no longer.
//
//   for (int step = 0; step < 10 && !context.cancelled(); ++step)
//     context.progress(step, 10, "step " + std::to_string(step));
//
// The context lives as long as the call. A handler may use its functions from any of its threads
// until it returns. They are never null; those of a default-constructed context do nothing.
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

/// The client that a request comes from, as its token names it. Immutable, so threads may share it.
/// The application decides what a scope permits.
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
  /// Sends notifications/progress if the request has a progress token. Reports that come too fast
  /// or do not rise are dropped. `total` is 0 when it is unknown.
  std::function<void(double progress, double total, const std::string& message)> progress =
      [](double, double, const std::string&) {};
  /// Requested when the client cancels or, in the stateless era, hangs up. Pass it to waits.
  std::stop_token stop = {};
  bool cancelled() const { return stop.stop_requested(); }
  /// True when `stop` was requested because the server ends. Durable work should then stay as it
  /// is: the next start of the server goes on with it.
  std::function<bool()> server_ends = [] { return false; };
  /// Sends notifications/message if the client wants this level. Over HTTP, only the answer of an
  /// `interactive` tool carries them.
  std::function<void(LogLevel level, const std::string& logger, const nlohmann::json& data)> log =
      [](LogLevel, const std::string&, const nlohmann::json&) {};
  /// Ends the client's event stream, so that the client must come back for the rest. Does nothing
  /// outside of legacy HTTP sessions.
  std::function<void()> release_stream = [] {};
  /// Null when the server has no tokens.
  std::shared_ptr<const Caller> caller = nullptr;
  bool allows(std::string_view scope) const { return caller == nullptr || caller->allows(scope); }

  /// The client's answers by key (input.h). Each is an object.
  nlohmann::json inputs = nlohmann::json::object();
  std::string state = {};  // InputRequired::state of the round before; empty in the first round
  /// The capabilities that this client, or this request, declared.
  nlohmann::json client_capabilities = nlohmann::json::object();
  bool is_task = false;  // no connection waits for the answer, so the work may take long
};

}  // namespace assay::mcp
