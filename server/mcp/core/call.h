// Defines the objects that describe one call while the server handles it:
//
// - TransportContext: the functions that reach the client, and the client's name
// - ResolvedCall: the message and its method, tool, protocol era and _meta. Each is looked up once.
// - CallScope: the running request, with cancellation, progress, log messages and input
// - RequestContext: the part of the CallScope that a handler sees (request_context.h)
//
//   const ResolvedCall resolved = dispatcher.resolve(message);
//   CallScope call(resolved, transport, in_flight, system_clock());
//   if (const auto problem = call.take_input(signature)) return tl::unexpected<RpcError>(*problem);
//   const ToolResult result = tool.call(arguments, call.context());
//   call.close();  // no progress is sent after this
//
// A CallScope belongs to one call. Any thread may use its context until close().
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>

#include "base/clock.h"
#include "base/json.h"
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

/// Sends the progress notifications of one request. It sends at most ten notifications a second,
/// each with a higher value than the previous one, and none after close(). Thread-safe, because a
/// handler may report progress from any of its threads.
class ProgressGate {
 public:
  using Notify = std::function<void(const nlohmann::json& notification)>;
  static constexpr std::int64_t kMinIntervalNs = 100'000'000;

  /// If the token or `notify` is null, report() does nothing.
  ProgressGate(nlohmann::json token, Notify notify, const Clock& clock = system_clock())
      : token_(std::move(token)), notify_(std::move(notify)), clock_(clock) {}

  /// Sends a notification unless the previous one was too recent. `total` is 0 when the total is
  /// unknown. An empty message is omitted from the notification.
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

/// The facts that the transport knows about one message, and functions that reach the client that
/// sent the message. The context exists while the message is handled. Many threads may call its
/// functions simultaneously.
struct TransportContext {
  /// Names the client. Request ids are unique only within one client, so a cancellation finds its
  /// request by scope and id. Empty: the request cannot be cancelled by its id.
  std::string scope = {};
  /// Sends to the client a notification or request that belongs to this message. Null: the
  /// transport cannot send messages before the answer.
  std::function<void(const nlohmann::json&)> notify = {};
  /// A stop of this token is requested when the client disconnects. In the stateless era, this
  /// cancels the call.
  std::stop_token hung_up = {};
  /// True if an HTTP header says that the request is of the stateless era.
  bool stateless = false;
  /// The client's name and scopes. Null: the server has no tokens, so everything is allowed.
  std::shared_ptr<const Caller> caller = {};
  /// The entry in the table of running requests, which Dispatcher::admit() made when the message
  /// began to wait in a queue. Null if the message did not wait.
  const InFlight::Ticket* ticket = nullptr;
  /// The session of a legacy (session-based) client. Null when the client has no session.
  std::shared_ptr<Session> session = {};
  /// Ends the event stream of this request, so that the client must reconnect to get the rest of
  /// the stream. Null: the client cannot reconnect to a stream.
  std::function<void()> release_stream = {};

  /// The numeric address of the client. Empty: the client is the process at the other end of stdio.
  std::string address = {};
  std::string traceparent = {};  // the HTTP header of this name, unchecked; empty: none

  std::string principal() const { return name_of(caller); }
};

struct Method;  // an entry of the table of methods (dispatch.cc)

/// Says how long a method may take.
enum class ExecutionClass {
  at_once,  // returns immediately
  handler,  // takes as long as a handler of the application takes
  lasting,  // lasts until the client or the server ends the call
};

/// A message, together with the method, tool and other objects that the message names.
/// Dispatcher::resolve() creates it.
struct ResolvedCall {
  Message message;
  bool stateless = false;  // the protocol era of the request
  RequestMeta meta = {};   // params._meta
  /// The method. Null: this protocol era has no such method, or the server does not offer the
  /// method.
  const Method* method = nullptr;
  ExecutionClass execution = ExecutionClass::at_once;
  const ToolRegistry::Entry* tool = nullptr;  // the tool that tools/call names; null: unknown tool
  /// The error with which the dispatcher refuses a request whose _meta is wrong, instead of running
  /// it. Empty: the request is not refused.
  std::optional<RpcError> problem = {};

  const nlohmann::json& params() const { return message.params; }
  /// Returns true if the call will reach its tool. A transport may then begin an event stream
  /// before the outcome of the call is known.
  bool reaches_tool() const { return tool != nullptr && !problem; }
  /// Returns true if the answer should be an event stream, because other messages may precede it:
  /// progress, log messages, questions to the client or changes.
  bool wants_stream() const;
};

class CallScope {
 public:
  /// All arguments must outlive the scope.
  CallScope(const ResolvedCall& call, const TransportContext& transport, InFlight& in_flight,
            const Clock& clock);
  CallScope(const CallScope&) = delete;
  CallScope& operator=(const CallScope&) = delete;

  /// In the stateless era, a client repeats a call with its answers to the server's questions. This
  /// function reads params.inputResponses, verifies params.requestState, and puts the contents of
  /// both into the context. Returns an error if the answers are malformed or the state is not
  /// valid. Does nothing in the legacy era.
  std::optional<RpcError> take_input(const SignedState& seal);
  /// In the legacy (session-based) era, asks the client the questions of `needed`, one after
  /// another, and puts the answers into the context.
  std::optional<RpcError> ask(const InputRequired& needed);

  const ResolvedCall& call() const { return call_; }
  const TransportContext& transport() const { return transport_; }
  const nlohmann::json& params() const { return call_.message.params; }
  bool stateless() const { return call_.stateless; }
  RequestContext& context() { return context_; }
  /// Ends progress and log messages: after close(), none is sent.
  void close();
  /// Returns true if the client cancelled the call, or if the end of its session did so. The client
  /// then expects no answer.
  bool cancelled() const { return cancelled_.value_or(ticket().cancelled()); }
  /// Sets the result of cancelled(). The method subscriptions/listen uses this function. Its
  /// requests are answered only if the server ends them.
  void set_cancelled(bool cancelled) { cancelled_ = cancelled; }

 private:
  const InFlight::Ticket& ticket() const { return own_ ? *own_ : *transport_.ticket; }
  std::optional<LogLevel> log_level() const;
  void log(LogLevel level, const std::string& logger, const nlohmann::json& data);

  const ResolvedCall& call_;
  const TransportContext& transport_;
  std::optional<InFlight::Ticket> own_;  // empty if the transport opened a ticket already
  std::atomic<bool> closed_{false};
  std::optional<bool> cancelled_;
  ProgressGate progress_;
  RequestContext context_;
  /// Requests a stop of the call's work when the client disconnects.
  std::optional<std::stop_callback<std::function<void()>>> on_hang_up_;
};

constexpr int kMaxInputRounds = 8;

/// Calls `attempt` until it needs no more input. `attempt` takes the context and returns an Rpc
/// whose value has the member `input_required`. In the legacy (session-based) era, the client is
/// asked between two calls of `attempt`, at most kMaxInputRounds times. In the stateless era,
/// `attempt` is called once. The returned value may then still have `input_required`, and the
/// client repeats the call. Returns an error if a question needs a capability that the client did
/// not declare.
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

/// Returns the protocol's InputRequiredResult.
nlohmann::json input_required_result(const InputRequired& needed, const CallScope& call,
                                     const SignedState& seal);

}  // namespace assay::mcp
