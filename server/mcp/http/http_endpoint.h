// What a POST to /mcp means, apart from any HTTP library: which checks it must pass, in which
// order, and what it answers. http_server.cc carries it over sockets.
//
//   request headers --refuse_headers()--> body --interpret()--> a Call to be run, or a Reply at
//   once
//
// Stateless, thread-safe.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "server/mcp/core/dispatch.h"
#include "server/mcp/http/http_server.h"
#include "server/mcp/protocol/http_headers.h"

namespace assay::mcp {

struct Reply {
  int status = 200;
  std::string body;  // JSON; empty: no body
  std::vector<std::pair<std::string, std::string>> headers;
  bool close = false;  // the body was not read, so the connection cannot be used again
};

/// A reply with a JSON-RPC error without id, for what fails before there is a message.
Reply error_reply(int status, int code, const std::string& message, bool close = false);

/// The refusal of what could be had a moment later.
Reply busy_reply(const std::string& what);

/// Length, encoding and type of the body. `count` says how often a header occurs.
std::optional<Reply> refuse_headers(const HeaderLookup& header,
                                    const std::function<std::size_t(const char*)>& count,
                                    const HttpOptions& options);

/// A message that is fit to be handled, and how.
struct Call {
  ResolvedCall resolved;
  TransportContext transport;
  bool stream = false;  // answer as server-sent events
};

/// Either a Call, or in `reply` why not.
struct Interpretation {
  std::optional<Call> call;
  Reply reply;
};
Interpretation interpret(std::string_view body, const HeaderLookup& header,
                         const Dispatcher& dispatcher, const HttpOptions& options);

/// The reply to a call that was handled without a stream.
Reply reply_to(const Outcome& outcome);

}  // namespace assay::mcp
