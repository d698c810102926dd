#include "server/mcp/http/body_reader.h"

#include <algorithm>
#include <array>

#include "server/mcp/http/http_endpoint.h"
#include "server/mcp/http/http_request.h"

namespace assay::mcp {
namespace {

constexpr std::size_t kBodyReadBytes = 16 << 10;

Reply incomplete_body() {
  return error_reply(400, kInvalidRequest, "the body ended early or was too slow", true);
}

}  // namespace

tl::expected<std::string, Reply> read_bytes(Connection& connection, std::int64_t until_ns,
                                            std::size_t bytes) {
  std::string body;
  std::array<char, kBodyReadBytes> part;
  while (body.size() < bytes) {
    const std::size_t got =
        connection.read(part.data(), std::min(part.size(), bytes - body.size()), until_ns);
    if (got == 0) return tl::unexpected(incomplete_body());
    body.append(part.data(), got);
  }
  return body;
}

tl::expected<std::string, Reply> read_chunks(Connection& connection, std::int64_t until_ns,
                                             const HttpOptions& options) {
  ChunkDecoder decoder(
      static_cast<std::size_t>(options.max_body_bytes),
      static_cast<std::size_t>(options.max_header_bytes + options.max_body_bytes / 4));
  std::array<char, kBodyReadBytes> part;
  while (decoder.state() == ChunkDecoder::State::incomplete) {
    const std::size_t got = connection.read(part.data(), part.size(), until_ns);
    if (got == 0) return tl::unexpected(incomplete_body());
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

}  // namespace assay::mcp
