#include "server/mcp/http/counted_dispatch.h"

#include <chrono>

namespace assay::mcp {
namespace {

HttpMetrics::Outcome outcome_of(const Outcome& outcome) {
  if (outcome.cancelled) return HttpMetrics::Outcome::cancelled;
  if (!outcome.response) return HttpMetrics::Outcome::accepted;
  const auto result = outcome.response->find("result");
  if (result == outcome.response->end()) return HttpMetrics::Outcome::error;
  return result->is_object() && result->value("isError", false) ? HttpMetrics::Outcome::failed
                                                                : HttpMetrics::Outcome::ok;
}

}  // namespace

Outcome CountedDispatch::handle(const Message& message, const TransportContext& exchange) {
  const auto start = std::chrono::steady_clock::now();
  Outcome outcome = dispatcher_.handle(message, exchange);
  const double seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  metrics_.count(message.kind == Message::Kind::response ? "response" : message.method,
                 outcome_of(outcome), seconds);
  return outcome;
}

}  // namespace assay::mcp
