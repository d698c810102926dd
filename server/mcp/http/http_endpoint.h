// The meaning of a POST to /mcp, apart from sockets: which checks it must pass, in which order, and
// what it answers.
//
//   head --check_body_headers()--> body --interpret()--> a Call to be run, or a Reply at once
//
// Stateless, thread-safe.
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

/// Checks length, encoding and type of the body. Returns where it ends, or the refusal.
tl::expected<BodyFraming, Reply> check_body_headers(const HttpRequest& request,
                                                    const HttpOptions& options);

/// The refusal of a body beyond HttpOptions::max_body_bytes.
Reply too_large_reply(const HttpOptions& options);

/// A message that passed every check, and how to answer it.
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

/// The reply to a call that was handled without a stream.
Reply reply_to(const Outcome& outcome);

}  // namespace assay::mcp
