// Parses the head of an HTTP request (request line and headers, up to the blank line), and finds
// the end of its body. The head is parsed once, by strict rules: a head that another parser could
// interpret differently is refused. Otherwise a proxy in front of this server could see two
// requests where this server sees one request (request smuggling).
//
//   const ParsedHead head = parse_head("GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n", {});
//   if (head.state == ParsedHead::State::complete) show(head.request.path);  // "/healthz"
//   ChunkDecoder decoder(4 << 20, 1 << 20);
//   decoder.feed("2\r\n{}\r\n0\r\n\r\n");
//   if (decoder.state() == ChunkDecoder::State::complete) show(decoder.take_body());  // "{}"
//
// parse_head() is pure and thread-safe. Its cost is linear in the number of bytes. A decoder
// belongs to one thread.
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
  /// The maximum size of the head in bytes, including the request line and all line breaks.
  std::size_t max_bytes = 32 << 10;
  std::size_t max_headers = 64;
  /// The maximum size in bytes of the path and the query in the request line.
  std::size_t max_target_bytes = 2 << 10;
};

struct HttpRequest {
  std::string method;
  std::string path;       // the path as sent, without query, fragment, scheme and authority
  std::string query;      // the text between "?" and "#", as sent
  bool http_1_0 = false;  // false: HTTP/1.1
  std::vector<std::pair<std::string, std::string>> headers;  // values are trimmed

  /// Returns the value of the first header with this name. The comparison ignores case.
  std::optional<std::string> header(std::string_view name) const;
  /// Returns a function that calls header(). The request must outlive the function.
  HeaderLookup lookup() const;
  /// Returns true if the request has a Content-Length or a Transfer-Encoding header. Such a header
  /// announces a body.
  bool has_body() const;
  /// Returns true if the client may send another request on the same connection.
  bool keeps_connection() const;
};

struct ParsedHead {
  enum class State { incomplete, complete, refused };
  State state = State::incomplete;
  std::size_t size = 0;      // if complete: the size of the head in bytes, with its blank line
  HttpRequest request = {};  // if complete: the parsed head
  int status = 0;            // if refused: the status of the response, 400, 414, 431 or 505
  std::string reason = {};   // if refused: the reason as a sentence
};

ParsedHead parse_head(std::string_view bytes, const HeadLimits& limits);

/// Returns true when `text` contains only tabs, spaces, visible characters and bytes above ASCII.
bool is_header_value(std::string_view text);

/// Compares two header names, or two tokens of a header. The comparison ignores case.
bool same_name(std::string_view name, std::string_view other);

/// The rule by which the end of a request's body is found. The headers determine it.
struct BodyFraming {
  bool chunked = false;
  std::size_t bytes = 0;  // the Content-Length of a body that is not chunked
};

/// Decodes a body with "Transfer-Encoding: chunked" (RFC 9112, section 7.1). The decoder is strict:
/// lines must end with CRLF, and sizes must be hexadecimal digits without spaces. Chunk extensions
/// and trailers are discarded.
class ChunkDecoder {
 public:
  enum class State { incomplete, complete, too_large, malformed };

  /// `max_framing_bytes` limits all bytes that are not data: sizes, extensions, trailers and line
  /// breaks.
  ChunkDecoder(std::size_t max_body_bytes, std::size_t max_framing_bytes)
      : max_body_bytes_(max_body_bytes), max_framing_bytes_(max_framing_bytes) {}

  /// Decodes `bytes`. Returns how many of them belong to the body: all of them while the body is
  /// incomplete.
  std::size_t feed(std::string_view bytes);
  State state() const { return state_; }
  std::string take_body() { return std::move(body_); }

 private:
  enum class Line { size, end_of_data, trailer };
  /// Returns false if no further bytes can make `line_` valid. The decoder so refuses a malformed
  /// body at its first wrong byte, and does not wait for the end of the line.
  bool may_become_line() const;
  void take_line();
  void take_size(std::string_view line);

  const std::size_t max_body_bytes_, max_framing_bytes_;
  State state_ = State::incomplete;
  Line expected_ = Line::size;
  std::string body_;
  std::string line_;            // the beginning of a line whose end has not arrived
  std::size_t data_bytes_ = 0;  // bytes of the current chunk that have not arrived
  std::size_t framing_bytes_ = 0;
};

}  // namespace assay::mcp
