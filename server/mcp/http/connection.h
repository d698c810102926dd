// Connection is one client's connection to the HTTP server. Its input is bounded and read ahead.
// Its output is collected and sent in one piece. Both have deadlines.
//
//   const IoState got = connection.fill();  // reads what has arrived, without waiting
//   connection.write("HTTP/1.1 204 No Content\r\n\r\n");
//   const bool sent = connection.flush();
//
// It belongs to one thread at a time, except that any thread may call hung_up(), writable() and
// stop_reading().
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "base/unique_fd.h"
#include "server/mcp/http/socket_io.h"

namespace assay::mcp {

struct SocketAddress {
  std::string host;  // numeric
  int port = 0;
};

class Connection {
 public:
  /// `fd` is connected and non-blocking, and `io` works on it. The clock must outlive the object.
  Connection(UniqueFd fd, std::unique_ptr<SocketIo> io, std::chrono::milliseconds write_timeout,
             const Clock& clock);

  int fd() const { return fd_.get(); }
  const SocketAddress& remote() const { return remote_; }
  const SocketAddress& local() const { return local_; }

  /// The bytes that were read and not yet used.
  std::string_view input() const { return std::string_view(input_).substr(used_); }
  /// Drops the first `bytes` of input().
  void consume(std::size_t bytes);
  /// Reads what has arrived, at most kReadAheadBytes, without waiting. Returns `done` when there is
  /// more input than before.
  IoState fill();
  /// Reads up to `size` bytes. Waits for the first one until the clock shows `until_ns`, and
  /// returns 0 when none came.
  std::size_t read(char* buffer, std::size_t size, std::int64_t until_ns);
  /// True when input arrives within `timeout`.
  bool wait_readable(std::chrono::milliseconds timeout) const;

  /// Collects output, and sends it only when there is more than kCollectBytes. Returns false when
  /// the connection is broken.
  bool write(std::string_view text);
  /// Sends the collected output. When the client does not take it within the write timeout, the
  /// connection is broken, and this and every later call returns false.
  bool flush();
  /// Sends `text` without waiting. Returns false when not all of it fits.
  bool try_write(std::string_view text);
  /// Sends the collected output and closes the sending half. The client may still send.
  void finish_writing();

  /// The client closed the connection, or its sending half.
  bool hung_up() const;
  /// True when a few bytes can be sent without waiting.
  bool writable() const;
  /// Ends the input: the thread that reads finds the end of the stream. Answers can still be
  /// written.
  void stop_reading() const;
  /// Closes the sending half without sending the collected output.
  void stop_writing() const;

  // The state that the listener (listener.h) keeps here.
  /// The listener closes a connection that waits when the clock shows this time.
  std::int64_t deadline_ns = 0;
  bool wants_write = false;  // wait until the socket is writable, not readable
  bool draining = false;     // the last answer is sent; further input is thrown away
  /// The first bytes of a request may have come, so the deadline is for the rest of its headers.
  bool mid_head = true;
  std::size_t drained_bytes = 0;

  /// A write has failed, so nothing can be sent any more.
  bool broken() const { return broken_; }

 private:
  bool wait_for(short events, std::int64_t until_ns) const;

  const UniqueFd fd_;
  const std::unique_ptr<SocketIo> io_;
  const std::chrono::milliseconds write_timeout_;
  const Clock& clock_;
  SocketAddress remote_, local_;
  std::string input_, output_;
  std::size_t used_ = 0;  // bytes of input_
  bool broken_ = false;
};

}  // namespace assay::mcp
