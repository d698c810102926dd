// Fuzzes the parser of HTTP heads, the checks of headers that follow it (Host, Origin, Accept,
// encoded header values, the headers of a body), and the decoder of chunked bodies.
//
// For any bytes there must be no crash. A head must not be accepted in three cases: it is larger
// than the limits, a prefix of it was refused, or it contains a character that another parser could
// read as the end of a line.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "server/mcp/http/http_admission.h"
#include "server/mcp/http/http_endpoint.h"
#include "server/mcp/http/http_request.h"
#include "server/mcp/http/http_server.h"

namespace {

using namespace assay::mcp;
using State = ParsedHead::State;

const HeadLimits kLimits{2048, 16, 256};

void check_values(const HttpRequest& request) {
  if (request.headers.size() > kLimits.max_headers) std::abort();
  static const HttpOptions options;
  static Admission admission(options);
  static_cast<void>(admission.decide(request.lookup(), "127.0.0.1", Admission::Path::protocol));
  static_cast<void>(check_body_headers(request, options));
  for (const auto& [name, value] : request.headers) {
    static_cast<void>(host_allowed(value, "0.0.0.0"));
    static_cast<void>(origin_allowed(value, "127.0.0.1"));
    static_cast<void>(accepts(value, "text/event-stream"));
    if (const auto decoded = decode_header_value(value);
        decoded && decode_header_value(encode_header_value(*decoded)) != *decoded)
      std::abort();
  }
}

/// Checks that the decoder of chunked bodies keeps its limits. Also checks that its result does not
/// depend on how the bytes are divided into reads.
void check_chunks(std::string_view bytes) {
  constexpr std::size_t kMaxBody = 256;
  ChunkDecoder whole(kMaxBody, kMaxBody);
  ChunkDecoder cut(kMaxBody, kMaxBody);
  const std::size_t used = whole.feed(bytes);
  const std::size_t half = bytes.size() / 2;
  std::size_t used_cut = cut.feed(bytes.substr(0, half));
  used_cut += cut.feed(bytes.substr(half));
  if (whole.state() != cut.state() || used > bytes.size()) std::abort();
  if (whole.state() == ChunkDecoder::State::complete && used != used_cut) std::abort();
  const std::string body = whole.take_body();
  if (body.size() > kMaxBody || body != cut.take_body()) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  check_chunks(bytes);
  const ParsedHead check = parse_head(bytes, kLimits);
  const ParsedHead half = parse_head(bytes.substr(0, size / 2), kLimits);
  if (half.state == State::refused && check.state != State::refused) std::abort();
  if (half.state == State::complete && (check.state != State::complete || check.size != half.size))
    std::abort();
  if (check.state == State::refused && (check.status < 400 || check.reason.empty())) std::abort();
  if (check.state != State::complete) return 0;
  const std::string_view head = bytes.substr(0, check.size);
  if (head.size() > kLimits.max_bytes + 4 || head.find('\0') != std::string_view::npos)
    std::abort();
  if (std::count(head.begin(), head.end(), '\n') != std::count(head.begin(), head.end(), '\r'))
    std::abort();
  check_values(check.request);
  return 0;
}
