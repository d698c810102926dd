// Reads the body of an HTTP request that has not arrived whole with its head.
//
//   ShareLimiter::Pass held = upload_bytes.enter("alice", 0);
//   tl::expected<std::string, Reply> body = read_bytes(connection, until_ns, 1'000, held);
//   if (!body) return response.reply(body.error());
//
// Uploads reads the body of a request, whether it has arrived whole or not, and limits how many
// bodies arrive at the same time. The functions have no state; a connection belongs to one thread.
// Uploads is thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <tl/expected.hpp>

#include "server/mcp/core/share_limiter.h"
#include "server/mcp/http/connection.h"
#include "server/mcp/http/http_request.h"
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

class Uploads {
 public:
  /// The options must outlive the object.
  explicit Uploads(const HttpOptions& options)
      : options_(options),
        uploads_({options.max_uploads, options.principal_uploads}),
        bytes_({options.max_upload_bytes, options.principal_upload_bytes}) {}

  /// Returns the body of a request of `principal`. If the body cannot be read, returns the reply
  /// that refuses the request. check_body_headers() makes the framing.
  tl::expected<std::string, Reply> read(Connection& connection, const HttpRequest& request,
                                        const BodyFraming& framing, const std::string& principal,
                                        std::int64_t until_ns);
  void set_places(ShareLimiter::Places places) { uploads_.set_places(places); }

  /// The numbers of bodies that are being received, and of their bytes that have arrived.
  std::int64_t running() const { return uploads_.inside(); }
  std::int64_t bytes() const { return bytes_.inside(); }

 private:
  const HttpOptions& options_;
  ShareLimiter uploads_, bytes_;
};

}  // namespace assay::mcp
