#include "server/mcp/http/http_challenge.h"

#include "server/mcp/http/http_cors.h"
#include "server/mcp/oauth/access_tokens.h"

namespace assay::mcp {
namespace {

constexpr const char* kChallengeHeader = "WWW-Authenticate";

}  // namespace

Reply unauthorized_reply(const HttpOptions& options, const std::string& reason) {
  Reply reply =
      error_reply(401, kInvalidRequest,
                  reason.empty() ? "a token is needed: Authorization: Bearer TOKEN" : reason);
  const std::string error = reason.empty() ? "" : "invalid_token";
  std::string challenge = R"(Bearer realm="assay")";
  if (options.oauth)
    challenge = options.oauth->resource.challenge({.error = error, .reason = reason});
  else if (!error.empty())
    challenge += R"(, error="invalid_token")";
  reply.headers.emplace_back(kChallengeHeader, std::move(challenge));
  return reply;
}

Reply scope_reply(const HttpOptions& options, const Caller& caller, const std::string& missing,
                  const nlohmann::json& id) {
  const std::string reason = missing.empty() ? "the token has no scope of this server"
                                             : "the token lacks the scope '" + missing + "'";
  Reply reply{.status = 403, .body = dump(make_error(id, kInvalidRequest, reason))};
  Challenge challenge{.error = "insufficient_scope", .reason = reason, .scopes = caller.scopes};
  if (!missing.empty()) challenge.scopes.push_back(missing);
  if (options.oauth)
    reply.headers.emplace_back(kChallengeHeader, options.oauth->resource.challenge(challenge));
  return reply;
}

std::optional<Reply> refuse_scope(const Call& call, const HttpOptions& options) {
  const std::shared_ptr<const Caller>& caller = call.transport.caller;
  if (!caller || caller->issuer.empty() || !call.resolved.reaches_tool()) return std::nullopt;
  const Tool& tool = call.resolved.tool->tool;
  const auto arguments = call.resolved.params().find("arguments");
  if (!tool.missing_scope || arguments == call.resolved.params().end() || !arguments->is_object())
    return std::nullopt;
  const std::string missing = tool.missing_scope(*arguments, *caller);
  if (missing.empty()) return std::nullopt;
  return scope_reply(options, *caller, missing, call.resolved.message.id);
}

std::optional<Reply> open_document(const HttpRequest& request, const HttpOptions& options) {
  if (auto answer = preflight_reply(request, options)) return answer;
  if ((request.method != "GET" && request.method != "HEAD") || !options.oauth ||
      !options.oauth->resource.describes(request.path))
    return std::nullopt;
  Reply reply{.body = options.oauth->resource.metadata()};
  reply.headers.emplace_back("Cache-Control", "max-age=300");
  return reply;
}

}  // namespace assay::mcp
