// The head of an HTTP request: the request line and the headers, up to the blank line. It is parsed
// once, strictly. A head that another parser could read differently is refused, because a proxy in
// front of this server could then take one request for two.
//
//   const ParsedHead head = parse_head(connection.input(), limits);
//   if (head.state == ParsedHead::State::incomplete) return Next::wait;
//   if (head.state == ParsedHead::State::complete && head.request.path == "/mcp") ...
//
// Pure, thread-safe. Cost: linear in the bytes, which are at most `max_bytes` and what one read
// added.
//
// The body of an HTTP request: where it ends, and the decoder of a chunked one.
//
//   ChunkDecoder decoder(4 << 20, 1 << 20);
//   while (decoder.state() == ChunkDecoder::State::incomplete) decoder.feed(next_bytes());
//   if (decoder.state() == ChunkDecoder::State::complete) use(decoder.take_body());
//
// A decoder belongs to one thread.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "server/mcp/protocol/http_headers.h"

namespace assay::mcp {

struct HeadLimits {
  std::size_t max_bytes = 32 << 10;  // request line, headers and line breaks
  std::size_t max_headers = 64;
  std::size_t max_target_bytes = 2 << 10;  // path and query of the request line
};

struct HttpRequest {
  std::string method;
  std::string path;                                          // as sent, without query and fragment
  bool http_1_0 = false;                                     // else HTTP/1.1
  std::vector<std::pair<std::string, std::string>> headers;  // values without blanks around them

  /// The value of the first header with this name, compared without case.
  std::optional<std::string> header(std::string_view name) const;
  /// header() as a function. The request must outlive it.
  HeaderLookup lookup() const;
  /// A body follows the head, or seems to: there is a Content-Length or a Transfer-Encoding.
  bool has_body() const;
  /// The client wants to send another request on this connection.
  bool keeps_connection() const;
};

struct ParsedHead {
  enum class State { incomplete, complete, refused };
  State state = State::incomplete;
  std::size_t size = 0;      // complete: bytes of the head, blank line included
  HttpRequest request = {};  // complete
  int status = 0;            // refused: status of the answer, 400, 414, 431 or 505
  std::string reason = {};   // refused: a sentence
};

ParsedHead parse_head(std::string_view bytes, const HeadLimits& limits);

/// Tabs, spaces, visible characters and bytes above ASCII; no CR, LF or NUL.
bool is_header_value(std::string_view text);

/// Compares two names of headers or of their tokens without case.
bool same_name(std::string_view name, std::string_view other);

/// How the head says that the body ends.
struct BodyFraming {
  bool chunked = false;
  std::size_t bytes = 0;  // Content-Length, unless chunked
};

/// Decodes "Transfer-Encoding: chunked" (RFC 9112, section 7.1), strictly: lines end in CRLF, and
/// a size is hexadecimal digits without blanks. Chunk extensions and trailers are dropped.
class ChunkDecoder {
 public:
  enum class State { incomplete, complete, too_large, malformed };

  /// `max_framing_bytes` limits everything but the data: sizes, extensions, trailers, line breaks.
  ChunkDecoder(std::size_t max_body_bytes, std::size_t max_framing_bytes)
      : max_body_bytes_(max_body_bytes), max_framing_bytes_(max_framing_bytes) {}

  /// Returns how many of `bytes` belong to the body. That is all of them while it is incomplete.
  std::size_t feed(std::string_view bytes);
  State state() const { return state_; }
  std::string take_body() { return std::move(body_); }

 private:
  enum class Line { size, end_of_data, trailer };
  void take_line();
  void take_size(std::string_view line);

  const std::size_t max_body_bytes_, max_framing_bytes_;
  State state_ = State::incomplete;
  Line expected_ = Line::size;
  std::string body_, line_;     // line_: the beginning of a line whose end has not arrived
  std::size_t data_bytes_ = 0;  // of the current chunk, not yet read
  std::size_t framing_bytes_ = 0;
};

}  // namespace assay::mcp
