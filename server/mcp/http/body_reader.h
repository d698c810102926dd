// Reads the body of an HTTP request that has not arrived whole with its head.
//
//   ShareLimiter::Pass held = upload_bytes.enter("alice", 0);
//   tl::expected<std::string, Reply> body = read_bytes(connection, until_ns, 1'000, held);
//   if (!body) return response.reply(body.error());
//
// The functions have no state; a connection belongs to one thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <tl/expected.hpp>

#include "base/share_limiter.h"
#include "server/mcp/http/connection.h"
#include "server/mcp/http/http_response.h"
#include "server/mcp/http/http_server.h"

namespace assay::mcp {

/// Reads a body of `bytes` bytes. Returns a reply that refuses the request if the body ends early,
/// if it has not arrived when the clock shows `until_ns`, or if `held` cannot take the bytes that
/// have arrived. `held` must be valid. It keeps the bytes until it is destroyed.
tl::expected<std::string, Reply> read_bytes(Connection& connection, std::int64_t until_ns,
                                            std::size_t bytes, ShareLimiter::Pass& held);

/// Reads a body in chunks. Also refuses a body that is malformed or exceeds a limit of `options`.
tl::expected<std::string, Reply> read_chunks(Connection& connection, std::int64_t until_ns,
                                             const HttpOptions& options, ShareLimiter::Pass& held);

}  // namespace assay::mcp
