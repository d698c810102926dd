// Answers the requests that OAuth is about: the metadata of this resource, requests without a valid
// token (401), and calls for which the token lacks a scope (403). Without OAuth there is no
// metadata, and the answers do not mention it.
//
//   if (!caller) return unauthorized_reply(options, "the token has expired");
//   if (const auto refusal = refuse_scope(call, options)) return *refusal;
//
// The functions have no state and are thread-safe.
#pragma once

#include <optional>
#include <string>

#include "server/mcp/http/http_endpoint.h"
#include "server/mcp/http/http_response.h"
#include "server/mcp/http/http_server.h"

namespace assay::mcp {

/// Returns the reply to a request without a valid token. `reason` says what is wrong with the
/// token; empty: the request has none.
Reply unauthorized_reply(const HttpOptions& options, const std::string& reason);

/// Returns the reply to a request that needs a scope that the caller lacks. `missing` is empty if
/// the caller has no scope at all. `id` is that of the request, or null.
Reply scope_reply(const HttpOptions& options, const Caller& caller, const std::string& missing,
                  const nlohmann::json& id);

/// Refuses a call of a tool if the caller lacks a scope and can ask its identity provider for it. A
/// caller with a token of the token file gets the tool's own error instead.
std::optional<Reply> refuse_scope(const Call& call, const HttpOptions& options);

/// Returns the answer to a request that needs no token: the metadata of this resource, or the
/// answer to a preflight (http_cors.h). Returns nothing for every other request.
std::optional<Reply> open_document(const HttpRequest& request, const HttpOptions& options);

}  // namespace assay::mcp
