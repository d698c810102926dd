// One client's connection to the HTTP server: bounded input that was read ahead, output that is
// collected and sent in one piece, and deadlines on both.
//
//   connection.fill();                                   // what has arrived, without waiting
//   connection.read(buffer, size, deadline);             // waits, for a body
//   connection.write("HTTP/1.1 200 OK..."); connection.flush();
//
// Belongs to one thread at a time, except that hung_up() and stop_reading() may be called from any.
#pragma once

#include <chrono>
#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

#include "base/unique_fd.h"
#include "server/mcp/http/socket_io.h"

namespace assay::mcp {

struct SocketAddress {
  std::string host;  // numeric
  int port = 0;
};

class Connection {
 public:
  using Clock = std::chrono::steady_clock;

  /// `fd` is connected and non-blocking; `io` works on it.
  Connection(UniqueFd fd, std::unique_ptr<SocketIo> io, std::chrono::milliseconds write_timeout);

  int fd() const { return fd_.get(); }
  const SocketAddress& remote() const { return remote_; }
  const SocketAddress& local() const { return local_; }

  /// What was read and not yet used.
  std::string_view input() const { return std::string_view(input_).substr(used_); }
  /// Drops the first `bytes` of input().
  void consume(std::size_t bytes);
  /// Reads what has arrived without waiting, at most kReadAheadBytes. `done`: there is more input
  /// than before.
  IoState fill();
  /// Up to `size` bytes, waiting until `deadline` for the first; 0 when none came.
  std::size_t read(char* buffer, std::size_t size, Clock::time_point deadline);
  /// True when input arrives within `patience`.
  bool wait_readable(std::chrono::milliseconds patience) const;

  /// Collects; sends by itself only what exceeds kCollectBytes. False once the connection is
  /// broken.
  bool write(std::string_view text);
  /// Sends what was collected. A client that does not take it within the write timeout is given up:
  /// false, now and ever after.
  bool flush();
  /// Sends `text` at once and without waiting; false when it does not fit.
  bool try_write(std::string_view text);
  /// Sends what was collected and ends our side; the client may still be sending.
  void finish_writing();

  /// The client closed the connection, or its sending half.
  bool hung_up() const;
  /// From another thread: whoever reads from this connection finds its end, answers are still
  /// written.
  void stop_reading() const;
  /// The client sees the end of what we send.
  void stop_writing() const;

  // What the listener (listener.h) keeps here.
  Clock::time_point deadline;  // while it is watched: it is closed when nothing came by then
  bool wants_write = false;    // watch for writability instead
  bool draining = false;       // answered for the last time: what comes is thrown away
  bool mid_head = true;  // the first bytes of a request may have come; `deadline` is for the rest
                         // of its headers
  std::size_t drained_bytes = 0;

  /// A write failed: nothing can be said to this client any more.
  bool broken() const { return broken_; }

 private:
  bool wait_for(short events, Clock::time_point deadline) const;

  const UniqueFd fd_;
  const std::unique_ptr<SocketIo> io_;
  const std::chrono::milliseconds write_timeout_;
  SocketAddress remote_, local_;
  std::string input_, output_;
  std::size_t used_ = 0;  // of input_
  bool broken_ = false;
};

}  // namespace assay::mcp
