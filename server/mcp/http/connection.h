// Connection is one client's connection to the HTTP server. It reads the client's bytes ahead, up
// to a limit. It collects output and sends the output in one piece. Reading and writing have
// deadlines.
//
//   const IoState got = connection.fill();  // reads what has arrived, without waiting
//   connection.write("HTTP/1.1 204 No Content\r\n\r\n");
//   const bool sent = connection.flush();
//
// A connection belongs to one thread at a time, except that any thread may call hung_up(),
// writable() and stop_reading().
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
  std::string host;  // a numeric address
  int port = 0;
};

class Connection {
 public:
  /// `fd` must be connected and non-blocking. `io` must read and write the same `fd`. The clock
  /// must outlive the object.
  Connection(UniqueFd fd, std::unique_ptr<SocketIo> io, std::chrono::milliseconds write_timeout,
             const Clock& clock);

  int fd() const { return fd_.get(); }
  const SocketAddress& remote() const { return remote_; }
  const SocketAddress& local() const { return local_; }

  /// The bytes that were read, but not yet consumed.
  std::string_view input() const { return std::string_view(input_).substr(used_); }
  /// Removes the first `bytes` bytes of input().
  void consume(std::size_t bytes);
  /// Reads bytes that have arrived, without waiting, until input() has at least kReadAheadBytes.
  /// Returns `done` if input() has grown.
  IoState fill();
  /// Reads up to `size` bytes. If no byte has arrived, waits for the first byte until the clock
  /// shows `until_ns`. Returns the number of bytes. It is 0 if no byte arrived in time, or if the
  /// stream has ended.
  std::size_t read(char* buffer, std::size_t size, std::int64_t until_ns);
  /// Waits at most `timeout` until input is ready to be read.
  void wait_readable(std::chrono::milliseconds timeout) const;

  /// Collects output. Sends the collected output, like flush(), only if it is longer than
  /// kCollectBytes. Returns false if the connection is broken.
  bool write(std::string_view text);
  /// Sends the collected output and waits until the socket has accepted it. If the client does not
  /// read the output within the write timeout, the connection counts as broken: this call and all
  /// later calls return false.
  bool flush();
  /// Sends `text` without waiting. Returns false when not all of `text` could be sent.
  bool try_write(std::string_view text);
  /// Sends the collected output and closes the sending direction. The client can still send, and
  /// this object can still read.
  void finish_writing();

  /// Returns true when the client closed the connection or its sending direction.
  bool hung_up() const;
  /// Returns true when the socket accepts more bytes without waiting.
  bool writable() const;
  /// Ends the input: the thread that reads from the connection finds the end of the stream.
  /// Responses can still be written.
  void stop_reading() const;
  /// Closes the sending direction without sending the collected output.
  void stop_writing() const;

  // The following members are for the listener (listener.h).
  /// The time, on the clock, at which the listener closes the connection if no worker serves it
  /// then.
  std::int64_t deadline_ns = 0;
  bool wants_write = false;  // wait until the socket is writable instead of readable
  bool draining = false;     // the last response is sent; further input is discarded
  /// True if the first bytes of a request may have arrived. `deadline_ns` is then the time limit
  /// for the rest of the request's headers.
  bool mid_head = true;
  std::size_t drained_bytes = 0;

  /// Returns true when a write has failed, so that nothing can be sent any more.
  bool broken() const { return broken_; }

 private:
  bool wait_for(short events, std::int64_t until_ns) const;

  const UniqueFd fd_;
  const std::unique_ptr<SocketIo> io_;
  const std::chrono::milliseconds write_timeout_;
  const Clock& clock_;
  SocketAddress remote_, local_;
  std::string input_, output_;
  std::size_t used_ = 0;  // consumed bytes at the start of input_
  bool broken_ = false;
};

}  // namespace assay::mcp
