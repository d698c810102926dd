// One call, from its first look to its answer:
//
//   TransportContext   what carries the message: how to reach the client, and who it is
//   ResolvedCall       the message with its method, tool, era and _meta, each looked up once
//   CallScope          a request that runs: cancellation, progress, log messages, input
//   RequestContext     the part of it that a handler sees (request_context.h)
//
//   const ResolvedCall resolved = dispatcher.resolve(message);
//   CallScope call(resolved, transport, in_flight);
//   if (const auto problem = call.take_input(signature)) return tl::unexpected<RpcError>(*problem);
//   tool.call(arguments, call.context());
//   call.close();  // no progress after this
//
// A CallScope belongs to one call; its context may be used from any thread until close().
//
// Progress of one request: at most ten notifications a second, each higher than the last, none
// after the request is over.
//
//   ProgressGate gate(token, notify);
//   gate.report(3, 10, "3 of 10 cases");        // dropped when it comes too early or does not rise
//   gate.close();
//
// Thread-safe: a handler may report from any of its threads.
#pragma once

#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

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

class ProgressGate {
 public:
  using Notify = std::function<void(const nlohmann::json& notification)>;
  static constexpr std::chrono::milliseconds kMinInterval{100};

  /// A null token or a null `notify` makes every report a no-op.
  ProgressGate(nlohmann::json token, Notify notify,
               std::chrono::milliseconds min_interval = kMinInterval)
      : token_(std::move(token)), notify_(std::move(notify)), min_interval_(min_interval) {}

  /// `total` <= 0: unknown. An empty message is left out.
  void report(double progress, double total, const std::string& message);
  void close();

 private:
  const nlohmann::json token_;
  const Notify notify_;
  const std::chrono::milliseconds min_interval_;
  Mutex mutex_;
  bool closed_ ASSAY_GUARDED_BY(mutex_) = false;
  std::optional<double> last_ ASSAY_GUARDED_BY(mutex_);
  std::chrono::steady_clock::time_point last_sent_ ASSAY_GUARDED_BY(mutex_);
};

/// What the transport knows about one message, and how to speak to the client that sent it. It
/// lives as long as the message is handled. Its functions may be called from many threads at once.
struct TransportContext {
  /// Where request ids are unique. Empty: a request cannot be cancelled by its id.
  std::string scope = {};
  /// Sends a notification, or a question, that belongs to this request. Null: there is no way.
  std::function<void(const nlohmann::json&)> notify = {};
  /// True when the client is gone, which cancels a call of the stateless era. Null: unknown.
  std::function<bool()> hung_up = {};
  /// The transport already knows the era: an HTTP header names 2026-07-28.
  bool stateless = false;
  /// Null: the server has no tokens, and everything is allowed.
  std::shared_ptr<const Caller> caller = {};
  /// The ticket from Dispatcher::admit(), when the message waited in a queue.
  const InFlight::Ticket* ticket = nullptr;
  /// The client of the legacy era; null when it has no session.
  std::shared_ptr<Session> session = {};
  /// Ends the stream of this request, which the client then resumes. Null: there is no way.
  std::function<void()> release_stream = {};

  std::string principal() const { return name_of(caller); }
};

struct Method;  // dispatch.cc: an entry of the table of methods

/// How long a method takes: no time; as long as a handler does; until the client or the server ends
/// it.
enum class ExecutionClass { at_once, handler, lasting };

/// A message, and everything that is looked up by its names. Made by Dispatcher::resolve().
struct ResolvedCall {
  Message message;
  bool stateless = false;          // the era
  RequestMeta meta = {};           // params._meta
  const Method* method = nullptr;  // null: unknown in this era, or not offered
  ExecutionClass pace = ExecutionClass::at_once;
  const ToolRegistry::Entry* tool = nullptr;  // the tool of tools/call; null: unknown
  /// Why the dispatcher refuses a stateless request at once.
  std::optional<RpcError> problem = {};

  const nlohmann::json& params() const { return message.params; }
  /// The call will reach its tool, so that a transport may start a stream before it knows the
  /// outcome.
  bool reaches_tool() const { return tool != nullptr && !problem; }
  /// Something can come before the answer, so that the answer should be a stream: progress, log
  /// messages, questions, changes.
  bool wants_stream() const;
};

class CallScope {
 public:
  /// `call` and `transport` must outlive the scope.
  CallScope(const ResolvedCall& call, const TransportContext& transport, InFlight& in_flight);
  CallScope(const CallScope&) = delete;
  CallScope& operator=(const CallScope&) = delete;

  /// Stateless era: reads params.inputResponses and opens params.requestState into the context. An
  /// error when either is malformed.
  std::optional<RpcError> take_input(const SignedState& seal);
  /// Legacy era: puts the questions to the client, one after another, and the answers into the
  /// context.
  std::optional<RpcError> ask(const InputRequired& needed);

  const ResolvedCall& call() const { return call_; }
  const TransportContext& transport() const { return transport_; }
  const nlohmann::json& params() const { return call_.message.params; }
  bool stateless() const { return call_.stateless; }
  RequestContext& context() { return context_; }
  /// Ends progress and log messages.
  void close();
  /// The client sent notifications/cancelled, so it waits for no answer.
  bool cancelled() const { return cancelled_.value_or(ticket().cancelled()); }
  /// Overrules the client's notification: a subscription is never answered unless the server ends.
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
};

constexpr int kMaxInputRounds = 8;

/// Runs `attempt` (context -> Rpc of something with `input_required`) until it needs no more input.
/// A legacy client is asked in between, at most kMaxInputRounds times; for a stateless one the
/// outcome may still carry input_required. An error when the client did not declare the capability
/// that a question needs.
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
                                     const SignedState& seal);

}  // namespace assay::mcp
