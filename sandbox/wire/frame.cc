#include "sandbox/wire/frame.h"

#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <climits>
#include <cstdint>
#include <cstring>
#include <string>

namespace assay::sandbox {
namespace {

constexpr std::string_view kMagic = "ASY1";
constexpr std::size_t kReadBytes = 256U << 10;  // about the capacity of a socket's buffer
constexpr int kReadsAtOnce = 256;

template <class T>
void put_little_endian(std::string& out, T value) {
  for (std::size_t i = 0; i < sizeof(T); ++i)
    out.push_back(static_cast<char>((value >> (8 * i)) & 0xff));
}

template <class T>
T get_little_endian(std::string_view bytes) {
  T value = 0;
  for (std::size_t i = 0; i < sizeof(T); ++i)
    value |= static_cast<T>(static_cast<T>(static_cast<unsigned char>(bytes[i])) << (8 * i));
  return value;
}

Status wait_for(int socket, short events, const Deadline& deadline) {
  while (true) {
    if (deadline.cancelled()) return fail(ErrorCode::cancelled, "cancelled");
    if (deadline.expired()) return fail(ErrorCode::resource_exhausted, "the deadline passed");
    std::array<pollfd, 1> entries{{{socket, events, 0}}};
    const int ready = poll_until(entries, deadline);
    if (ready > 0) return {};
    if (ready < 0 && errno != EINTR) return fail_errno("poll");
  }
}

/// Returns true if poll(2) reports one of `events`, or the end of the stream, at once.
bool is_ready(int fd, short events) {
  pollfd entry{fd, events, 0};
  return ::poll(&entry, 1, 0) > 0;
}

/// Writes to a pipe without blocking, although the pipe may be a blocking one. A pipe that poll(2)
/// calls writable takes PIPE_BUF bytes. Its flags cannot be changed, because other processes may
/// share them.
ssize_t write_piece(int pipe, std::string_view bytes) {
  if (is_ready(pipe, POLLOUT))
    return ::write(pipe, bytes.data(), std::min<std::size_t>(bytes.size(), PIPE_BUF));
  errno = EAGAIN;
  return -1;
}

/// Reads from a pipe without blocking, although the pipe may be a blocking one.
ssize_t read_piece(int pipe, char* bytes, std::size_t size) {
  if (is_ready(pipe, POLLIN)) return ::read(pipe, bytes, size);
  errno = EAGAIN;
  return -1;
}

/// Calls sendmsg once, with descriptors if `fds` is not null. Returns the number of bytes sent, or
/// -1 with errno.
ssize_t send_piece(int socket, std::string_view bytes, const std::vector<int>* fds) {
  iovec piece{const_cast<char*>(bytes.data()), bytes.size()};
  msghdr message{};
  message.msg_iov = &piece;
  message.msg_iovlen = 1;
  alignas(cmsghdr) std::array<char, CMSG_SPACE(kMaxFrameFds * sizeof(int))> control{};
  if (fds != nullptr && !fds->empty()) {
    const std::size_t size = fds->size() * sizeof(int);
    message.msg_control = control.data();
    message.msg_controllen = CMSG_SPACE(size);
    cmsghdr* head = CMSG_FIRSTHDR(&message);
    head->cmsg_level = SOL_SOCKET;
    head->cmsg_type = SCM_RIGHTS;
    head->cmsg_len = CMSG_LEN(size);
    std::memcpy(CMSG_DATA(head), fds->data(), size);
  }
  const ssize_t sent = ::sendmsg(socket, &message, MSG_NOSIGNAL | MSG_DONTWAIT);
  if (sent >= 0 || errno != ENOTSOCK) return sent;
  if (fds != nullptr && !fds->empty()) return -1;
  return write_piece(socket, bytes);
}

Status send_all(int socket, std::string_view bytes, const std::vector<int>* fds,
                const Deadline& deadline) {
  while (!bytes.empty()) {
    const ssize_t sent = send_piece(socket, bytes, fds);
    if (sent >= 0) {
      bytes.remove_prefix(static_cast<std::size_t>(sent));
      fds = nullptr;
      continue;
    }
    const int error = errno;
    if (error == EINTR) continue;
    if (error == EPIPE || error == ECONNRESET)
      return fail(ErrorCode::unavailable, "the peer closed the connection");
    if (error != EAGAIN && error != ETOOMANYREFS) return fail_errno("sendmsg", error);
    if (Status ready = wait_for(socket, POLLOUT, deadline); !ready) return ready;
  }
  return {};
}

}  // namespace

Status send_frame(int socket, const nlohmann::json& header, std::string_view payload,
                  const std::vector<int>& fds, const Deadline& deadline) {
  const std::string text = header.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  if (text.size() > kMaxHeaderBytes)
    return fail(ErrorCode::invalid_argument,
                "a frame header of " + std::to_string(text.size()) + " bytes is over the cap");
  if (payload.size() > kMaxPayloadBytes)
    return fail(ErrorCode::invalid_argument,
                "a payload of " + std::to_string(payload.size()) + " bytes is over the cap");
  if (fds.size() > kMaxFrameFds)
    return fail(ErrorCode::invalid_argument,
                std::to_string(fds.size()) + " descriptors are over the cap");
  std::string start(kMagic);
  put_little_endian(start, static_cast<std::uint32_t>(text.size()));
  put_little_endian(start, static_cast<std::uint64_t>(payload.size()));
  start += text;
  if (Status sent = send_all(socket, start, &fds, deadline); !sent) return sent;
  return send_all(socket, payload, nullptr, deadline);
}

Result<Frame> receive_frame(int socket, const Deadline& deadline) {
  FrameReceiver receiver(socket);
  while (true) {
    switch (receiver.receive()) {
      case FrameReceiver::State::frame: return receiver.take();
      case FrameReceiver::State::closed: return fail(ErrorCode::unavailable, receiver.message());
      case FrameReceiver::State::malformed: return fail(ErrorCode::corrupt, receiver.message());
      case FrameReceiver::State::truncated:
      case FrameReceiver::State::broken: return fail(ErrorCode::io, receiver.message());
      case FrameReceiver::State::again: break;
    }
    if (Status ready = wait_for(socket, POLLIN, deadline); !ready) return fail(ready.error());
  }
}

FrameReceiver::State FrameReceiver::receive() {
  if (final_ != State::again) return final_;
  int reads = 0;
  while (true) {
    while (buffer_.size() < wanted_) {
      // Returns after kReadsAtOnce reads even if more bytes have arrived. Without this limit, a
      // peer that sends small pieces could keep the caller from checking its deadline.
      if (++reads > kReadsAtOnce) return State::again;
      const State state = read_some();
      if (state != State::frame) return state;
    }
    switch (part_) {
      case Part::prefix:
        if (const State state = consume_prefix(); state != State::frame) return state;
        break;
      case Part::header:
        if (const State state = consume_header(); state != State::frame) return state;
        break;
      case Part::payload: frame_.payload = std::move(buffer_); return State::frame;
    }
  }
}

Frame FrameReceiver::take() {
  Frame taken = std::move(frame_);
  frame_ = Frame{};
  buffer_.clear();
  wanted_ = kFramePrefixBytes;
  part_ = Part::prefix;
  return taken;
}

/// Calls recvmsg once and appends the bytes to buffer_. It never reads beyond the current part of
/// the frame, so that descriptors are assigned to the frame with which they were sent. Returns
/// State::frame if any bytes were received.
FrameReceiver::State FrameReceiver::read_some() {
  const std::size_t have = buffer_.size();
  const std::size_t want = std::min(wanted_ - have, kReadBytes);
  buffer_.resize(have + want);
  iovec piece{buffer_.data() + have, want};
  alignas(cmsghdr) std::array<char, CMSG_SPACE(kMaxFrameFds * sizeof(int))> control{};
  msghdr message{};
  message.msg_iov = &piece;
  message.msg_iovlen = 1;
  message.msg_control = control.data();
  message.msg_controllen = control.size();
  ssize_t got = ::recvmsg(socket_, &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
  if (got < 0 && errno == ENOTSOCK) {
    message.msg_controllen = 0;
    got = read_piece(socket_, buffer_.data() + have, want);
  }
  const int error = errno;
  buffer_.resize(have + (got > 0 ? static_cast<std::size_t>(got) : 0));
  if (got < 0) {
    if (error == EAGAIN || error == EINTR) return State::again;
    if (error == ECONNRESET) return finish(State::truncated, "the connection was reset");
    return finish(State::broken, std::string("recvmsg: ") + std::strerror(error));
  }
  std::vector<UniqueFd> fds;
  for (cmsghdr* head = CMSG_FIRSTHDR(&message); head != nullptr;
       head = CMSG_NXTHDR(&message, head)) {
    if (head->cmsg_level != SOL_SOCKET || head->cmsg_type != SCM_RIGHTS) continue;
    for (std::size_t at = 0; at + sizeof(int) <= head->cmsg_len - CMSG_LEN(0); at += sizeof(int)) {
      int fd = -1;
      std::memcpy(&fd, CMSG_DATA(head) + at, sizeof(int));
      fds.emplace_back(fd);
    }
  }
  // The kernel drops descriptors of which there are too many for the buffer, and descriptors for
  // which this process has no free number. Only in the first case is the buffer full.
  if ((message.msg_flags & MSG_CTRUNC) != 0) {
    return fds.size() >= kMaxFrameFds
               ? finish(State::malformed, "more descriptors than the cap")
               : finish(State::broken, "no room for descriptors (see `ulimit -n`)");
  }
  const bool at_start = part_ == Part::prefix && have == 0;
  if (!fds.empty() && !at_start)
    return finish(State::malformed, "descriptors came in the middle of a frame");
  if (!fds.empty()) frame_.fds = std::move(fds);
  if (got > 0) return State::frame;
  if (at_start) return finish(State::closed, "the peer closed the connection");
  return finish(State::truncated, "the stream ended inside a frame");
}

FrameReceiver::State FrameReceiver::consume_prefix() {
  const std::string_view prefix(buffer_);
  if (prefix.substr(0, kMagic.size()) != kMagic) return finish(State::malformed, "wrong magic");
  const auto header_bytes = get_little_endian<std::uint32_t>(prefix.substr(4, 4));
  payload_bytes_ = get_little_endian<std::uint64_t>(prefix.substr(8, 8));
  if (header_bytes > caps_.bytes)
    return finish(State::malformed,
                  "a header of " + std::to_string(header_bytes) + " bytes is over the cap");
  if (payload_bytes_ > kMaxPayloadBytes)
    return finish(State::malformed,
                  "a payload of " + std::to_string(payload_bytes_) + " bytes is over the cap");
  buffer_.clear();
  wanted_ = header_bytes;
  part_ = Part::header;
  return State::frame;
}

FrameReceiver::State FrameReceiver::consume_header() {
  Result<nlohmann::json> header = parse_header(buffer_, caps_.values);
  if (!header) return finish(State::malformed, header.error().message);
  frame_.header = std::move(*header);
  buffer_.clear();
  wanted_ = static_cast<std::size_t>(payload_bytes_);
  part_ = Part::payload;
  return State::frame;
}

FrameReceiver::State FrameReceiver::finish(State state, std::string message) {
  final_ = state;
  message_ = std::move(message);
  frame_ = Frame{};
  return state;
}

Result<SocketPair> make_socket_pair() {
  std::array<int, 2> ends{};
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) != 0)
    return fail_errno("socketpair");
  return SocketPair{UniqueFd(ends[0]), UniqueFd(ends[1])};
}

TextShape shape_of(std::string_view text) {
  TextShape shape;
  int depth = 0;
  bool in_string = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (in_string) {
      if (c == '\\') ++i;
      if (c == '"') in_string = false;
    } else if (c == '"') {
      in_string = true;
    } else if (c == '[' || c == '{') {
      shape.nesting = std::max(shape.nesting, ++depth);
      ++shape.values;
    } else if (c == ',') {
      ++shape.values;
    } else if (c == ']' || c == '}') {
      --depth;
    }
  }
  return shape;
}

Result<nlohmann::json> parse_header(std::string_view text, std::size_t most_values) {
  const TextShape shape = shape_of(text);
  if (shape.values > most_values)
    return fail(ErrorCode::corrupt,
                "the header has more than " + std::to_string(most_values) + " values");
  if (shape.nesting > kMaxHeaderNesting)
    return fail(ErrorCode::corrupt,
                "the header is nested deeper than " + std::to_string(kMaxHeaderNesting));
  nlohmann::json header;
  try {
    header = nlohmann::json::parse(text);
  } catch (const nlohmann::json::exception& error) {
    return fail(ErrorCode::corrupt, std::string("the header is not JSON: ") + error.what());
  }
  if (!header.is_object()) return fail(ErrorCode::corrupt, "the header is not a JSON object");
  const auto type = header.find("type");
  if (type == header.end() || !type->is_string())
    return fail(ErrorCode::corrupt, "the header has no string `type`");
  return header;
}

}  // namespace assay::sandbox
