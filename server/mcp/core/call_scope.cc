#include "server/mcp/core/call_scope.h"

#include <algorithm>

#include "server/mcp/protocol/meta.h"

namespace assay::mcp {
namespace {

using nlohmann::json;

/// A person may have to answer.
constexpr std::chrono::minutes kQuestionTimeout{10};

}  // namespace

CallScope::CallScope(const Message& message, const TransportContext& exchange, InFlight& in_flight,
                     bool stateless)
    : message_(message),
      exchange_(exchange),
      stateless_(stateless),
      progress_(progress_token(message), exchange.notify) {
  if (exchange.ticket == nullptr) own_.emplace(in_flight.open(exchange.scope, message.id));
  context_.caller = exchange.caller;
  context_.progress = [this](double progress, double total, const std::string& text) {
    progress_.report(progress, total, text);
  };
  context_.cancelled = [this] {
    return ticket().cancelled() || (stateless_ && exchange_.hung_up && exchange_.hung_up());
  };
  context_.log = [this](LogLevel level, const std::string& logger, const json& data) {
    log(level, logger, data);
  };
  context_.release_stream = [this] {
    if (exchange_.release_stream) exchange_.release_stream();
  };
  if (stateless)
    context_.client_capabilities = client_capabilities(message);
  else if (exchange.session)
    context_.client_capabilities = exchange.session->capabilities();
}

void CallScope::close() {
  closed_ = true;
  progress_.close();
}

std::optional<LogLevel> CallScope::log_level() const {
  if (!stateless_)
    return exchange_.session ? std::optional(exchange_.session->log_level.load()) : std::nullopt;
  return requested_log_level(message_).value_or(std::nullopt);
}

void CallScope::log(LogLevel level, const std::string& logger, const json& data) {
  const auto from = log_level();
  if (closed_ || !exchange_.notify || !from || level < *from) return;
  json params = {{"level", to_string(level)}, {"data", data}};
  if (!logger.empty()) params["logger"] = logger;
  exchange_.notify(make_notification("notifications/message", std::move(params)));
}

std::optional<RpcError> CallScope::take_input(const SignedState& seal) {
  if (!stateless_) return std::nullopt;
  const json& params = message_.params;
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
                                binding_of(message_.method, params, exchange_.principal()))
                    : std::nullopt;
  if (!opened)
    return RpcError{kInvalidParams,
                    "params.requestState is not valid: changed, too old, or of another request; "
                    "repeat the call without it"};
  context_.state = std::move(*opened);
  return std::nullopt;
}

std::optional<RpcError> CallScope::ask(const InputRequired& needed) {
  if (!exchange_.session || !exchange_.notify) {
    return RpcError{kInternalError,
                    "this call needs input from the client, which cannot be asked: over HTTP, open "
                    "a session and accept text/event-stream"};
  }
  json inputs = json::object();
  for (const auto& [key, request] : needed.requests) {
    auto answer = exchange_.session->questions.ask(request.method, request.params, exchange_.notify,
                                                   context_.cancelled, kQuestionTimeout);
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
                           const SignedState& seal, const std::string& principal) {
  json out = {{"resultType", "input_required"}};
  if (!needed.requests.empty()) out["inputRequests"] = to_json(needed.requests);
  // Without requests there must be a state: it is what the client retries with.
  if (!needed.state.empty() || needed.requests.empty())
    out["requestState"] = seal.seal(
        needed.state, binding_of(call.message().method, call.message().params, principal));
  return out;
}

}  // namespace assay::mcp
