// Interprets a POST to /mcp without touching sockets. check_body_headers() checks the headers about
// the body. interpret() performs the remaining checks in their order; it converts the body to a
// Call, or to a Reply that refuses the request. reply_to() prepares the answer.
//
//   const Interpretation meaning = interpret(body, request.lookup(), dispatcher, options);
//   if (!meaning.call) return response.reply(meaning.reply);
//   const Outcome outcome = dispatcher.handle(meaning.call->resolved, meaning.call->transport);
//   response.reply(reply_to(outcome));
//
// The functions have no state and are thread-safe.
#pragma once

#include <optional>
#include <string_view>
#include <tl/expected.hpp>

#include "server/mcp/core/dispatch.h"
#include "server/mcp/http/http_request.h"
#include "server/mcp/http/http_response.h"
#include "server/mcp/http/http_server.h"
#include "server/mcp/protocol/http_headers.h"

namespace assay::mcp {

/// Checks the headers about the length, encoding and type of the body. Returns the rule by which
/// the end of the body is found, or a reply that refuses the request.
tl::expected<BodyFraming, Reply> check_body_headers(const HttpRequest& request,
                                                    const HttpOptions& options);

/// Returns the reply that refuses a body larger than HttpOptions::max_body_bytes.
Reply too_large_reply(const HttpOptions& options);

/// A message that has passed every check. `stream` says in which form it is answered.
struct Call {
  ResolvedCall resolved;
  TransportContext transport;
  bool stream = false;  // true: answer with server-sent events
};

/// The result of interpret(): a Call or, if `call` is empty, the reply that refuses the request.
struct Interpretation {
  std::optional<Call> call;
  Reply reply;
};
Interpretation interpret(std::string_view body, const HeaderLookup& header,
                         const Dispatcher& dispatcher, const HttpOptions& options);

/// Returns the reply to a call that was handled without an event stream.
Reply reply_to(const Outcome& outcome);

}  // namespace assay::mcp
