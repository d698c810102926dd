// Dispatcher: one JSON-RPC message in, at most one out, whatever carried it. Speaks both eras at once: a request whose params._meta names
// a protocol version is served statelessly (2026-07-28), everything else by the legacy rules (2025-11-25 back to 2024-11-05). No request
// depends on an earlier one, so connections and sessions carry no state here.
//
//   Outcome out = dispatcher.handle(message, {.scope = "stdio", .notify = write_line});
//   if (out.response) write_line(*out.response);
//
// Registration must be finished before the first handle(); handle() may then be called from many threads at once. `initialize`, `ping`,
// lists and notifications return at once; `tools/call` returns when the tool does.
#pragma once

#include <functional>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "base/result.h"
#include "server/mcp/in_flight.h"
#include "server/mcp/jsonrpc.h"
#include "server/mcp/server.h"
#include "server/mcp/toolbox.h"

namespace assay::mcp {

/// What the transport knows about one message.
struct Exchange {
  std::string scope;                                  // where request ids are unique; empty: cancellation by id is off
  std::function<void(const nlohmann::json&)> notify;  // sends a notification that belongs to this request; null: cannot
  std::function<bool()> hung_up;                      // the client is gone: cancels in the stateless era only; null: unknown
  bool stateless = false;                             // the transport already knows the era (an HTTP header names 2026-07-28)
  const InFlight::Ticket* ticket = nullptr;           // admit()'s, when the message waited in a queue
};

struct Outcome {
  std::optional<nlohmann::json> response;  // none for notifications
  bool cancelled = false;                  // the client asked to stop: a stream must not carry the response
  int http_status = 200;
};

class Dispatcher {
 public:
  explicit Dispatcher(ServerInfo info);
  Status add_tool(Tool tool) { return tools_.add(std::move(tool)); }

  Outcome handle(const Message& message, const Exchange& exchange);
  /// Makes a request cancellable before handle() gets it.
  InFlight::Ticket admit(const Message& message, const std::string& scope) { return in_flight_.open(scope, message.id); }
  void cancel_all() { in_flight_.cancel_all(); }
  std::size_t in_flight() const { return in_flight_.size(); }

  /// The request names a protocol version (or client capabilities) in its _meta, or uses a method that only exists there.
  static bool is_stateless(const Message& message);
  /// handle() will reach the tool: a transport may start a stream before it knows the outcome.
  bool reaches_tool(const Message& message, bool stateless) const;

 private:
  Outcome stateless(const Message& message, const Exchange& exchange);
  Outcome legacy(const Message& message, const Exchange& exchange);
  Outcome initialize(const Message& message) const;
  Outcome list_tools(const Message& message, bool stateless) const;
  Outcome call_tool(const Message& message, const Exchange& exchange, bool stateless);
  void notification(const Message& message, const Exchange& exchange);
  /// Adds what every result of the stateless era carries.
  nlohmann::json complete(nlohmann::json result) const;
  nlohmann::json implementation() const;

  const ServerInfo info_;
  Toolbox tools_;
  InFlight in_flight_;
};

}  // namespace assay::mcp
