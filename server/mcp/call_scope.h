// What surrounds one call of a handler: its entry in the table of running calls, its progress, and how it learns that nobody waits.
//
//   CallScope call(message, exchange, in_flight, stateless);
//   handler(arguments, call.context());
//   call.close();                                  // no progress after this
//
// Belongs to one call; its context may be used from any thread until close().
#pragma once

#include <optional>

#include "server/mcp/exchange.h"
#include "server/mcp/in_flight.h"
#include "server/mcp/jsonrpc.h"
#include "server/mcp/progress.h"
#include "server/mcp/request_context.h"

namespace assay::mcp {

class CallScope {
 public:
  CallScope(const Message& message, const Exchange& exchange, InFlight& in_flight, bool stateless);
  CallScope(const CallScope&) = delete;
  CallScope& operator=(const CallScope&) = delete;

  RequestContext& context() { return context_; }
  void close() { progress_.close(); }
  /// The client sent notifications/cancelled: it wants no answer.
  bool cancelled() const { return ticket().cancelled(); }

 private:
  const InFlight::Ticket& ticket() const { return own_ ? *own_ : *exchange_.ticket; }

  const Exchange& exchange_;
  std::optional<InFlight::Ticket> own_;  // unless the transport opened one already
  ProgressGate progress_;
  RequestContext context_;
};

}  // namespace assay::mcp
