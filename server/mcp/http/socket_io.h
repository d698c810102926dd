// SocketIo moves bytes over a connected, non-blocking socket: as they are, or inside TLS. It never
// waits. TlsContext is the server's certificate and key. It makes the TLS sessions: TLS 1.2 or
// newer, HTTP/1.1 only (ALPN), no renegotiation.
//
//   const Result<std::shared_ptr<TlsContext>> tls = TlsContext::load("cert.pem", "key.pem");
//   std::unique_ptr<SocketIo> io = tls ? (*tls)->session(fd) : plain_io(fd);
//   std::array<char, 1024> buffer;
//   const IoResult got = io->read(buffer.data(), buffer.size());  // TLS: the handshake comes first
//
// TlsContext is thread-safe. A SocketIo belongs to one thread at a time. SIGPIPE must be ignored.
#pragma once

#include <cstddef>
#include <memory>
#include <string>

#include "base/result.h"

namespace assay::mcp {

enum class IoState {
  done,        // at least one byte was moved
  want_read,   // try again when the socket is readable
  want_write,  // try again when the socket is writable; TLS may have to write in order to read
  closed,      // the end of the stream or an error: the connection is of no more use
};

struct IoResult {
  IoState state = IoState::closed;
  std::size_t bytes = 0;
};

class SocketIo {
 public:
  virtual ~SocketIo() = default;
  virtual IoResult read(char* buffer, std::size_t size) = 0;
  /// True when read() has bytes although the socket has none: they were decrypted already.
  virtual bool pending() const = 0;
  virtual IoResult write(const char* data, std::size_t size) = 0;
  /// Tells the other side that nothing follows. Call it before shutting down the socket's sending
  /// half. It does not wait.
  virtual void finish_writing() {}
};

/// Reads and writes `fd` without TLS. `fd` stays the caller's.
std::unique_ptr<SocketIo> plain_io(int fd);

class TlsContext {
 public:
  /// `certificate` names a PEM file with the server's own certificate first and its chain after it.
  /// `key` names an unencrypted PEM file. The error names the file and the problem: `not_found`
  /// when the file cannot be read, `invalid_argument` when it is no PEM or key and certificate do
  /// not belong together.
  static Result<std::shared_ptr<TlsContext>> load(const std::string& certificate,
                                                  const std::string& key);
  virtual ~TlsContext() = default;

  /// Returns the server's side of a new connection, or null when OpenSSL has no memory left. `fd`
  /// stays the caller's and must outlive the session.
  virtual std::unique_ptr<SocketIo> session(int fd) const = 0;
};

}  // namespace assay::mcp
