// The body of an HTTP request: where it ends, and the decoder of a chunked one.
//
//   ChunkDecoder decoder(4 << 20, 1 << 20);
//   while (decoder.state() == ChunkDecoder::State::incomplete) decoder.feed(next_bytes());
//   if (decoder.state() == ChunkDecoder::State::complete) use(decoder.take_body());
//
// A decoder belongs to one thread.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace assay::mcp {

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
