#include "server/mcp/call_scope.h"

#include "server/mcp/meta.h"

namespace assay::mcp {

CallScope::CallScope(const Message& message, const Exchange& exchange, InFlight& in_flight, bool stateless)
    : exchange_(exchange), progress_(progress_token(message), exchange.notify) {
  if (exchange.ticket == nullptr) own_.emplace(in_flight.open(exchange.scope, message.id));
  context_.caller = exchange.caller;
  context_.progress = [this](double progress, double total, const std::string& text) { progress_.report(progress, total, text); };
  context_.cancelled = [this, stateless] { return ticket().cancelled() || (stateless && exchange_.hung_up && exchange_.hung_up()); };
}

}  // namespace assay::mcp
