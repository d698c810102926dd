// The meaning of a POST to /mcp, apart from sockets: the checks that it must pass, their order, and
// the answers. check_body_headers() checks the head. interpret() makes a Call of the body, or a
// Reply that refuses it.
//
//   const Interpretation meaning = interpret(body, request.lookup(), dispatcher, options);
//   if (!meaning.call) return response.reply(meaning.reply);
//   const Outcome outcome = dispatcher.handle(meaning.call->resolved, meaning.call->transport);
//   response.reply(reply_to(outcome));
//
// The functions keep no state and are thread-safe.
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

/// Checks length, encoding and type of the body. Returns the end of the body, or the refusal.
tl::expected<BodyFraming, Reply> check_body_headers(const HttpRequest& request,
                                                    const HttpOptions& options);

/// Refuses a body that is larger than HttpOptions::max_body_bytes.
Reply too_large_reply(const HttpOptions& options);

/// A message that has passed every check, and the way to answer it.
struct Call {
  ResolvedCall resolved;
  TransportContext transport;
  bool stream = false;  // answer as server-sent events
};

/// A Call, or the refusal in `reply`.
struct Interpretation {
  std::optional<Call> call;
  Reply reply;
};
Interpretation interpret(std::string_view body, const HeaderLookup& header,
                         const Dispatcher& dispatcher, const HttpOptions& options);

/// Returns the reply to a call that was handled without a stream.
Reply reply_to(const Outcome& outcome);

}  // namespace assay::mcp
