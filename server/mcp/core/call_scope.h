// What surrounds one call of a handler: its entry in the table of running calls, its progress and
// log messages, how it learns that nobody waits, and the answers to what it asked the client.
//
//   CallScope call(message, exchange, in_flight, stateless);
//   if (auto problem = call.take_input(seal)) return refuse(*problem);
//   handler(arguments, call.context());
//   call.close();                                  // no progress after this
//
// Belongs to one call; its context may be used from any thread until close().
#pragma once

#include <atomic>
#include <optional>

#include "server/mcp/core/in_flight.h"
#include "server/mcp/core/input.h"
#include "server/mcp/core/progress.h"
#include "server/mcp/core/request_context.h"
#include "server/mcp/core/signed_state.h"
#include "server/mcp/core/transport_context.h"
#include "server/mcp/protocol/jsonrpc.h"
#include "server/mcp/protocol/rpc.h"

namespace assay::mcp {

class CallScope {
 public:
  CallScope(const Message& message, const TransportContext& exchange, InFlight& in_flight,
            bool stateless);
  CallScope(const CallScope&) = delete;
  CallScope& operator=(const CallScope&) = delete;

  /// Stateless era: reads params.inputResponses and opens params.requestState into the context. An
  /// error when either is not fit.
  std::optional<RpcError> take_input(const SignedState& seal);
  /// Legacy era: puts the questions to the client, one after another, and the answers into the
  /// context.
  std::optional<RpcError> ask(const InputRequired& needed);

  const Message& message() const { return message_; }
  RequestContext& context() { return context_; }
  bool stateless() const { return stateless_; }
  void close();
  /// The client sent notifications/cancelled: it wants no answer.
  bool cancelled() const { return ticket().cancelled(); }

 private:
  const InFlight::Ticket& ticket() const { return own_ ? *own_ : *exchange_.ticket; }
  std::optional<LogLevel> log_level() const;
  void log(LogLevel level, const std::string& logger, const nlohmann::json& data);

  const Message& message_;
  const TransportContext& exchange_;
  const bool stateless_;
  std::optional<InFlight::Ticket> own_;  // unless the transport opened one already
  std::atomic<bool> closed_{false};
  ProgressGate progress_;
  RequestContext context_;
};

constexpr int kMaxInputRounds = 8;

/// Runs `attempt` (context -> Rpc of something with `input_required`) until it needs no more input.
/// A legacy client is asked in between, at most kMaxInputRounds times; for a stateless one the
/// outcome may still carry input_required. Asks nobody for what was not declared.
template <class Attempt>
auto gather_input(CallScope& call, const Attempt& attempt) -> decltype(attempt(call.context())) {
  for (int round = 0;; ++round) {
    auto outcome = attempt(call.context());
    if (!outcome || !outcome->input_required) return outcome;
    const InputRequired& needed = *outcome->input_required;
    if (const auto missing =
            missing_capability(needed.requests, call.context().client_capabilities))
      return tl::unexpected<RpcError>(*missing);
    if (call.stateless()) return outcome;
    if (round == kMaxInputRounds)
      return refuse_rpc(kInternalError, "the handler asked for input more than " +
                                            std::to_string(kMaxInputRounds) + " times");
    if (const auto problem = call.ask(needed)) return tl::unexpected<RpcError>(*problem);
  }
}

/// An InputRequiredResult.
nlohmann::json input_required_result(const InputRequired& needed, const CallScope& call,
                                     const SignedState& seal, const std::string& principal);

}  // namespace assay::mcp
