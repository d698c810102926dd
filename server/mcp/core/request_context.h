// What a handler (of a tool, resource or prompt) knows of its caller, and may do besides answering:
// tell of its progress, log, and notice that nobody waits any more.
//
//   for (...) { if (context.cancelled()) return stopped(); context.progress(done, total, "3 of 10
//   cases"); }
//
// Lives as long as the call. A handler may use its functions from any of its threads until it
// returns; they are never null. Those of a default-constructed context do nothing.
//
// Caller: whom a request comes from, as far as a token told: a name for the log and limits, and
// scopes. What a scope permits is the application's affair; this library only carries the words.
// Immutable, so it may be shared between threads.
#pragma once

#include <algorithm>
#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "server/mcp/protocol/protocol.h"

namespace assay::mcp {

struct Caller {
  std::string name;
  std::vector<std::string> scopes;

  bool allows(std::string_view scope) const {
    return std::find(scopes.begin(), scopes.end(), scope) != scopes.end();
  }
};

/// Empty where no tokens are asked for.
inline std::string name_of(const std::shared_ptr<const Caller>& caller) {
  return caller ? caller->name : std::string();
}

struct RequestContext {
  /// Sends notifications/progress when the request carried a token; rate-limited and strictly
  /// rising. `total` 0: unknown.
  std::function<void(double progress, double total, const std::string& message)> progress =
      [](double, double, const std::string&) {};
  /// True once the client cancelled or, in the stateless era, hung up.
  std::function<bool()> cancelled = [] { return false; };
  /// Sends notifications/message to a client that wants this level. Over HTTP only calls of an
  /// `interactive` tool carry them.
  std::function<void(LogLevel level, const std::string& logger, const nlohmann::json& data)> log =
      [](LogLevel, const std::string&, const nlohmann::json&) {};
  /// Ends the client's event stream; it comes back for the rest (legacy HTTP sessions; elsewhere
  /// nothing happens).
  std::function<void()> release_stream = [] {};
  /// Whom the call comes from; null where no tokens are asked for.
  std::shared_ptr<const Caller> caller = nullptr;
  bool allows(std::string_view scope) const { return caller == nullptr || caller->allows(scope); }

  nlohmann::json inputs =
      nlohmann::json::object();  // the client's answers by key (input.h); each an object
  std::string state = {};        // InputRequired::state of the round before; empty in the first
  nlohmann::json client_capabilities =
      nlohmann::json::object();  // what this client, or this request, declared
  bool is_task = false;          // nobody waits on a connection: the work may take its time
};

}  // namespace assay::mcp
