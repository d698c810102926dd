#include "server/mcp/core/call.h"

#include <algorithm>
#include <chrono>
#include <cmath>

#include "server/mcp/protocol/jsonrpc.h"
#include "server/mcp/protocol/protocol.h"

namespace assay::mcp {
namespace {

using nlohmann::json;

/// The time limit for the client's answer to a question. It is long, because a person may have to
/// answer.
constexpr std::chrono::minutes kQuestionTimeout{10};

}  // namespace

bool ResolvedCall::wants_stream() const {
  if (problem) return false;
  if (execution == ExecutionClass::lasting) return true;
  if (tool == nullptr) return false;
  if (meta.names_progress_token) return true;
  return tool->tool.interactive && (!stateless || meta.names_log_level);
}

CallScope::CallScope(const ResolvedCall& call, const TransportContext& transport,
                     InFlight& in_flight, const Clock& clock)
    : call_(call),
      transport_(transport),
      progress_(call.meta.progress_token, transport.notify, clock) {
  if (transport.ticket == nullptr) own_.emplace(in_flight.open(transport.scope, call.message.id));
  context_.caller = transport.caller;
  context_.progress = [this](double progress, double total, const std::string& text) {
    progress_.report(progress, total, text);
  };
  context_.stop = ticket().stop();
  context_.server_ends = [this] { return ticket().server_ends(); };
  context_.log = [this](LogLevel level, const std::string& logger, const json& data) {
    log(level, logger, data);
  };
  context_.release_stream = [this] {
    if (transport_.release_stream) transport_.release_stream();
  };
  if (call.stateless)
    context_.client_capabilities = call.meta.client_capabilities;
  else if (transport.session)
    context_.client_capabilities = transport.session->capabilities();
  if (call.stateless) on_hang_up_.emplace(transport.hung_up, [this] { ticket().request_stop(); });
}

void CallScope::close() {
  closed_ = true;
  progress_.close();
}

std::optional<LogLevel> CallScope::log_level() const {
  if (!stateless())
    return transport_.session ? std::optional(transport_.session->log_level.load()) : std::nullopt;
  return call_.meta.log_level.value_or(std::nullopt);
}

void CallScope::log(LogLevel level, const std::string& logger, const json& data) {
  const auto from = log_level();
  if (closed_ || !transport_.notify || !from || level < *from) return;
  json params = {{"level", to_string(level)}, {"data", data}};
  if (!logger.empty()) params["logger"] = logger;
  transport_.notify(make_notification("notifications/message", std::move(params)));
}

std::optional<RpcError> CallScope::take_input(const SignedState& seal) {
  if (!stateless()) return std::nullopt;
  const json& params = this->params();
  if (const auto inputs = params.find("inputResponses"); inputs != params.end()) {
    if (!inputs->is_object() ||
        !std::all_of(inputs->begin(), inputs->end(),
                     [](const json& answer) { return answer.is_object(); })) {
      return RpcError{kInvalidParams,
                      "params.inputResponses must be an object of objects: an answer for each key "
                      "of inputRequests"};
    }
    context_.inputs = *inputs;
  }
  const auto state = params.find("requestState");
  if (state == params.end()) return std::nullopt;
  auto opened = state->is_string()
                    ? seal.open(state->get_ref<const std::string&>(),
                                binding_of(call_.message.method, params, transport_.principal()))
                    : std::nullopt;
  if (!opened)
    return RpcError{kInvalidParams,
                    "params.requestState is not valid: changed, too old, or of another request; "
                    "repeat the call without it"};
  context_.state = std::move(*opened);
  return std::nullopt;
}

std::optional<RpcError> CallScope::ask(const InputRequired& needed) {
  if (!transport_.session || !transport_.notify) {
    return RpcError{kInternalError,
                    "this call needs input from the client, which cannot be asked: over HTTP, open "
                    "a session and accept text/event-stream"};
  }
  json inputs = json::object();
  for (const auto& [key, request] : needed.requests) {
    auto answer = transport_.session->questions.ask(
        request.method, request.params, transport_.notify, context_.stop, kQuestionTimeout);
    if (!answer) return RpcError{kInternalError, answer.error().message};
    if (!answer->is_object())
      return RpcError{kInternalError, "the client's answer to " + request.method + " is no object"};
    inputs[key] = std::move(*answer);
  }
  context_.inputs = std::move(inputs);
  context_.state = needed.state;
  return std::nullopt;
}

json input_required_result(const InputRequired& needed, const CallScope& call,
                           const SignedState& seal) {
  json out = {{"resultType", "input_required"}};
  if (!needed.requests.empty()) out["inputRequests"] = to_json(needed.requests);
  // The client must send answers or the state when it repeats the call. So the result must contain
  // questions, the state, or both.
  if (!needed.state.empty() || needed.requests.empty())
    out["requestState"] = seal.seal(
        needed.state,
        binding_of(call.call().message.method, call.params(), call.transport().principal()));
  return out;
}

void ProgressGate::report(double progress, double total, const std::string& message) {
  if (token_.is_null() || !notify_ || !std::isfinite(progress)) return;
  const MutexLock lock(mutex_);
  const std::int64_t now_ns = clock_.monotonic_ns();
  if (closed_ || (last_ && (progress <= *last_ || now_ns - last_sent_ns_ < kMinIntervalNs))) return;
  last_ = progress;
  last_sent_ns_ = now_ns;
  nlohmann::json params = {{kMetaProgressToken, token_}, {"progress", progress}};
  if (std::isfinite(total) && total > 0) params["total"] = total;
  if (!message.empty()) params["message"] = message;
  notify_(make_notification("notifications/progress", std::move(params)));
}

void ProgressGate::close() {
  const MutexLock lock(mutex_);
  closed_ = true;
}

}  // namespace assay::mcp
