// Sends and receives frames: the messages of the sandbox's processes over a Unix stream socket
// (docs/reference/frames.md describes the bytes).
//
//   Status sent = send_frame(socket, {{"type", "launch"}, {"case", "small"}}, plan,
//                            {input_fd, output_fd}, Deadline::after_ms(1'000));
//   Result<Frame> frame = receive_frame(socket, Deadline::after_ms(20'000));
//   const bool peer_is_gone = !frame && frame.error().code == ErrorCode::unavailable;
//
// The peer may be hostile. Every size is checked against its limit before memory is allocated for
// it, and descriptors are accepted only with the first byte of a frame. A header is a JSON object
// with a string `type`. On one socket, one thread may send while another thread receives. Instead
// of a socket, the functions also take a pipe, which carries no descriptors.
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "base/result.h"
#include "base/unique_fd.h"
#include "sandbox/wire/deadline.h"

namespace assay::sandbox {

inline constexpr std::uint32_t kMaxHeaderBytes = 4U << 20;
inline constexpr std::uint64_t kMaxPayloadBytes = 64ULL << 20;
inline constexpr std::size_t kMaxFrameFds = 64;
inline constexpr std::size_t kFramePrefixBytes = 16;
inline constexpr int kMaxHeaderNesting = 32;

/// Limits of one header.
struct HeaderCaps {
  std::uint32_t bytes = 0;
  std::size_t values = 0;
};

/// The limits for headers of trusted processes. A timed launch sends up to 100,000 samples in one
/// header.
inline constexpr HeaderCaps kTrustedHeader{.bytes = kMaxHeaderBytes, .values = 1U << 18};
/// The limits for headers of a candidate. The largest header of a correct candidate reports the 256
/// kernels of a plan, with about a dozen values for each kernel. The limits bound the server's
/// heap: each value of a parsed header takes 50 to 200 bytes, and the heap never shrinks.
inline constexpr HeaderCaps kCandidateHeader{.bytes = 512U << 10, .values = 8U << 10};

struct Frame {
  nlohmann::json header;
  std::string payload;
  std::vector<UniqueFd> fds;

  /// Returns the type of the message. A received frame always has a type.
  std::string type() const { return header.value("type", std::string()); }
};

/// Sends one whole frame. The caller still owns the descriptors. Errors: invalid_argument if the
/// frame is above a limit, which is a defect of the sender; unavailable if the peer has closed its
/// socket; resource_exhausted if the deadline passes; cancelled; io. After any error except
/// invalid_argument the stream is unusable.
Status send_frame(int socket, const nlohmann::json& header, std::string_view payload,
                  const std::vector<int>& fds, const Deadline& deadline);

/// Waits for one frame. Errors: unavailable if the stream ended between two frames; io if it ended
/// inside a frame or a system call failed; corrupt if the frame is malformed; resource_exhausted if
/// the deadline passes; cancelled.
Result<Frame> receive_frame(int socket, const Deadline& deadline);

/// Extracts frames from a stream as bytes arrive, for a caller that polls several descriptors.
///
///   FrameReceiver receiver(socket);
///   if (receiver.receive() == FrameReceiver::State::frame) use(receiver.take());
class FrameReceiver {
 public:
  enum class State {
    again,      // no whole frame yet: check the deadline, poll the socket, and call receive() again
    frame,      // take() returns the frame
    closed,     // end of stream between two frames
    truncated,  // end of stream inside a frame
    malformed,  // the peer broke the protocol; message() tells how
    broken,     // a system call failed; message() has the error
  };

  /// The caller owns `socket`.
  explicit FrameReceiver(int socket, HeaderCaps caps = kTrustedHeader)
      : socket_(socket), caps_(caps) {}

  /// Reads the bytes that have arrived, without blocking. The states closed, truncated, malformed
  /// and broken are final.
  State receive();
  Frame take();
  const std::string& message() const { return message_; }

 private:
  State read_some();
  State consume_prefix();
  State consume_header();
  State finish(State state, std::string message);

  int socket_;
  HeaderCaps caps_;
  State final_ = State::again;
  std::string message_;
  std::string buffer_;  // the bytes of the current part: prefix, header or payload
  std::size_t wanted_ = kFramePrefixBytes;
  enum class Part { prefix, header, payload } part_ = Part::prefix;
  std::uint64_t payload_bytes_ = 0;
  Frame frame_;
};

/// Parses a header: one JSON object with a string `type`, nested at most kMaxHeaderNesting deep,
/// with at most `most_values` values. The nesting and the values are counted in the text before any
/// object is created. The reason is that four bytes of text can become a hundred bytes of objects.
/// Errors: corrupt if the text is not such a header.
Result<nlohmann::json> parse_header(std::string_view text, std::size_t most_values);

/// The depth and the number of values of a JSON text. Both numbers are meaningless if the text is
/// not JSON.
struct TextShape {
  int nesting = 0;         // the deepest nesting of arrays and objects
  std::size_t values = 1;  // an upper bound: an empty array counts like an array with one entry
};
/// Returns the shape of a text. It does not use recursion.
TextShape shape_of(std::string_view text);

/// A connected pair of stream sockets, close-on-exec.
struct SocketPair {
  UniqueFd ours, theirs;
};
Result<SocketPair> make_socket_pair();

}  // namespace assay::sandbox
