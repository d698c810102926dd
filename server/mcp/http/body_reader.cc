#include "server/mcp/http/body_reader.h"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "server/mcp/http/http_endpoint.h"
#include "server/mcp/http/http_request.h"

namespace assay::mcp {
namespace {

constexpr std::size_t kBodyReadBytes = 16 << 10;

Reply incomplete_body() {
  return error_reply(400, kInvalidRequest, "the body ended early or was too slow", true);
}

/// Counts `bytes` further bytes of a body. Returns the reply that refuses the body if there are too
/// many bytes.
std::optional<Reply> hold(ShareLimiter::Pass& held, std::size_t bytes) {
  const ShareLimiter::Refusal refusal = held.take(static_cast<std::int64_t>(bytes));
  if (refusal == ShareLimiter::Refusal::none) return std::nullopt;
  return busy_reply(refusal, "bytes of requests are being received");
}

}  // namespace

tl::expected<std::string, Reply> read_bytes(Connection& connection, std::int64_t until_ns,
                                            std::size_t bytes, ShareLimiter::Pass& held) {
  std::string body;
  std::array<char, kBodyReadBytes> part;
  while (body.size() < bytes) {
    const std::size_t got =
        connection.read(part.data(), std::min(part.size(), bytes - body.size()), until_ns);
    if (got == 0) return tl::unexpected(incomplete_body());
    if (auto refusal = hold(held, got)) return tl::unexpected(std::move(*refusal));
    body.append(part.data(), got);
  }
  return body;
}

tl::expected<std::string, Reply> read_chunks(Connection& connection, std::int64_t until_ns,
                                             const HttpOptions& options, ShareLimiter::Pass& held) {
  ChunkDecoder decoder(
      static_cast<std::size_t>(options.max_body_bytes),
      static_cast<std::size_t>(options.max_header_bytes + options.max_body_bytes / 4));
  std::array<char, kBodyReadBytes> part;
  while (decoder.state() == ChunkDecoder::State::incomplete) {
    const std::size_t got = connection.read(part.data(), part.size(), until_ns);
    if (got == 0) return tl::unexpected(incomplete_body());
    if (auto refusal = hold(held, got)) return tl::unexpected(std::move(*refusal));
    decoder.feed({part.data(), got});
  }
  switch (decoder.state()) {
    case ChunkDecoder::State::complete: return decoder.take_body();
    case ChunkDecoder::State::too_large: return tl::unexpected(too_large_reply(options));
    default:
      return tl::unexpected(
          error_reply(400, kInvalidRequest, "the body is not in well-formed chunks", true));
  }
}

tl::expected<std::string, Reply> Uploads::read(Connection& connection, const HttpRequest& request,
                                               const BodyFraming& framing,
                                               const std::string& principal,
                                               std::int64_t until_ns) {
  if (!framing.chunked && connection.input().size() >= framing.bytes) {
    std::string body(connection.input().substr(0, framing.bytes));
    connection.consume(framing.bytes);
    return body;
  }
  // The place is given back before the call begins.
  const ShareLimiter::Pass upload = uploads_.enter(principal);
  if (!upload) return tl::unexpected(busy_reply(upload.refusal(), "requests are being received"));
  ShareLimiter::Pass held = bytes_.enter(principal, 0);
  if (!request.http_1_0 && connection.input().empty() &&
      same_name(request.header("Expect").value_or(""), "100-continue"))
    connection.write("HTTP/1.1 100 Continue\r\n\r\n");
  connection.flush();  // the client may wait for "100 Continue" or for earlier answers
  return framing.chunked ? read_chunks(connection, until_ns, options_, held)
                         : read_bytes(connection, until_ns, framing.bytes, held);
}

}  // namespace assay::mcp
