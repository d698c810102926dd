// The parts of one call, from the first look at its message to its answer:
//
// - TransportContext: how to reach the client, and the client's name
// - ResolvedCall: the message with its method, tool, era and _meta, each looked up once
// - CallScope: the running request, with cancellation, progress, log messages and input
// - RequestContext: the part of the scope that a handler sees (request_context.h)
//
//   const ResolvedCall resolved = dispatcher.resolve(message);
//   CallScope call(resolved, transport, in_flight, system_clock());
//   if (const auto problem = call.take_input(signature)) return tl::unexpected<RpcError>(*problem);
//   const ToolResult result = tool.call(arguments, call.context());
//   call.close();  // no progress after this
//
// A CallScope belongs to one call. Any thread may use its context until close().
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <stop_token>
#include <string>

#include "base/clock.h"
#include "base/mutex.h"
#include "server/mcp/core/in_flight.h"
#include "server/mcp/core/input.h"
#include "server/mcp/core/request_context.h"
#include "server/mcp/core/session.h"
#include "server/mcp/core/signed_state.h"
#include "server/mcp/core/tool.h"
#include "server/mcp/protocol/jsonrpc.h"
#include "server/mcp/protocol/params.h"

namespace assay::mcp {

/// Sends the progress of one request: at most ten notifications a second, each higher than the
/// last, and none after close(). Thread-safe, because a handler may report from any of its threads.
class ProgressGate {
 public:
  using Notify = std::function<void(const nlohmann::json& notification)>;
  static constexpr std::int64_t kMinIntervalNs = 100'000'000;

  /// With a null token or a null `notify`, report() does nothing.
  ProgressGate(nlohmann::json token, Notify notify, const Clock& clock = system_clock())
      : token_(std::move(token)), notify_(std::move(notify)), clock_(clock) {}

  /// `total` is 0 when it is unknown. An empty message is left out.
  void report(double progress, double total, const std::string& message);
  void close();

 private:
  const nlohmann::json token_;
  const Notify notify_;
  const Clock& clock_;
  Mutex mutex_;
  bool closed_ ASSAY_GUARDED_BY(mutex_) = false;
  std::optional<double> last_ ASSAY_GUARDED_BY(mutex_);
  std::int64_t last_sent_ns_ ASSAY_GUARDED_BY(mutex_) = 0;
};

/// The transport's knowledge of one message, and its ways to reach the client that sent it. It
/// lives as long as the message is handled. Many threads may call its functions at once.
struct TransportContext {
  /// Request ids are unique within the scope. Empty: a request cannot be cancelled by its id.
  std::string scope = {};
  /// Sends a notification, or a question, that belongs to this request. Null: impossible.
  std::function<void(const nlohmann::json&)> notify = {};
  /// Requested when the client hangs up, which stops a call of the stateless era.
  std::stop_token hung_up = {};
  /// The transport already knows that the era is the stateless one: an HTTP header says so.
  bool stateless = false;
  /// Null: the server has no tokens, so everything is allowed.
  std::shared_ptr<const Caller> caller = {};
  /// The ticket from Dispatcher::admit(), when the message waited in a queue.
  const InFlight::Ticket* ticket = nullptr;
  /// The client of the legacy era; null when it has no session.
  std::shared_ptr<Session> session = {};
  /// Ends the stream of this request, so that the client must resume it. Null: impossible.
  std::function<void()> release_stream = {};

  std::string principal() const { return name_of(caller); }
};

struct Method;  // dispatch.cc: an entry of the table of methods

/// The time that a method takes.
enum class ExecutionClass {
  at_once,  // none that counts
  handler,  // as long as a handler of the application takes
  lasting,  // until the client or the server ends it
};

/// A message, and everything that its names stand for. Dispatcher::resolve() makes it.
struct ResolvedCall {
  Message message;
  bool stateless = false;          // the era of the request
  RequestMeta meta = {};           // params._meta
  const Method* method = nullptr;  // null: unknown in this era, or not offered by the server
  ExecutionClass execution = ExecutionClass::at_once;
  const ToolRegistry::Entry* tool = nullptr;  // the tool of tools/call; null: unknown
  /// Why the dispatcher refuses a stateless request at once.
  std::optional<RpcError> problem = {};

  const nlohmann::json& params() const { return message.params; }
  /// True when the call will reach its tool, so a transport may begin a stream before it knows the
  /// outcome.
  bool reaches_tool() const { return tool != nullptr && !problem; }
  /// True when progress, log messages, questions or changes can come before the answer, so that the
  /// answer should be a stream.
  bool wants_stream() const;
};

class CallScope {
 public:
  /// All arguments must outlive the scope.
  CallScope(const ResolvedCall& call, const TransportContext& transport, InFlight& in_flight,
            const Clock& clock);
  CallScope(const CallScope&) = delete;
  CallScope& operator=(const CallScope&) = delete;

  /// In the stateless era, puts params.inputResponses and the opened params.requestState into the
  /// context. Returns the refusal when either is malformed.
  std::optional<RpcError> take_input(const SignedState& seal);
  /// In the legacy era, asks the client one question after another and puts the answers into the
  /// context.
  std::optional<RpcError> ask(const InputRequired& needed);

  const ResolvedCall& call() const { return call_; }
  const TransportContext& transport() const { return transport_; }
  const nlohmann::json& params() const { return call_.message.params; }
  bool stateless() const { return call_.stateless; }
  RequestContext& context() { return context_; }
  /// Ends progress and log messages.
  void close();
  /// True when the client sent notifications/cancelled, so that it expects no answer.
  bool cancelled() const { return cancelled_.value_or(ticket().cancelled()); }
  /// Overrides cancelled(): a subscription is answered only when the server ends it.
  void set_cancelled(bool cancelled) { cancelled_ = cancelled; }

 private:
  const InFlight::Ticket& ticket() const { return own_ ? *own_ : *transport_.ticket; }
  std::optional<LogLevel> log_level() const;
  void log(LogLevel level, const std::string& logger, const nlohmann::json& data);

  const ResolvedCall& call_;
  const TransportContext& transport_;
  std::optional<InFlight::Ticket> own_;  // unless the transport opened one already
  std::atomic<bool> closed_{false};
  std::optional<bool> cancelled_;
  ProgressGate progress_;
  RequestContext context_;
  /// Passes a hang-up on to the ticket.
  std::optional<std::stop_callback<std::function<void()>>> on_hang_up_;
};

constexpr int kMaxInputRounds = 8;

/// Runs `attempt` until it needs no more input. `attempt` takes the context and returns an Rpc
/// whose value has `input_required`. In the legacy era the client is asked between two attempts, at
/// most kMaxInputRounds times. In the stateless era the outcome may still have input_required.
/// Returns an error when a question needs a capability that the client did not declare.
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

/// The protocol's InputRequiredResult.
nlohmann::json input_required_result(const InputRequired& needed, const CallScope& call,
                                     const SignedState& seal);

}  // namespace assay::mcp
