// Bytes over a connected, non-blocking socket, as they are (here) or inside TLS (tls.h). Nothing
// here waits.
//
//   std::unique_ptr<SocketIo> io = plain_io(fd);           // fd stays the caller's
//   IoResult got = io->read(buffer, sizeof(buffer));
//   if (got.state == IoState::want_read) poll, then again
//
// One thread at a time per object.
//
// TLS for the HTTP server: a certificate with its key, and the sessions that use it. TLS 1.2 at
// least, HTTP/1.1 only (ALPN), no renegotiation.
//
//   const Result<std::shared_ptr<TlsContext>> tls = TlsContext::load("cert.pem", "key.pem");
//   std::unique_ptr<SocketIo> io = (*tls)->session(fd);      // its first reads and writes do the
//   handshake
//
// TlsContext is thread-safe; a session belongs to one thread at a time. SIGPIPE must be ignored.
#pragma once

#include <cstddef>
#include <memory>
#include <string>

#include "base/result.h"

namespace assay::mcp {

enum class IoState {
  done,        // `bytes` were moved, at least one
  want_read,   // again, when the socket is readable
  want_write,  // again, when the socket is writable (TLS may have to write in order to read)
  closed,      // end of stream or an error: nothing more will come or go
};

struct IoResult {
  IoState state = IoState::closed;
  std::size_t bytes = 0;
};

class SocketIo {
 public:
  virtual ~SocketIo() = default;
  virtual IoResult read(char* buffer, std::size_t size) = 0;
  /// More can be read although the socket itself has nothing to read: it was decrypted already.
  virtual bool pending() const = 0;
  virtual IoResult write(const char* data, std::size_t size) = 0;
  /// Tells the other side that nothing follows, before the socket's sending half is shut down. Does
  /// not wait.
  virtual void finish_writing() {}
};

std::unique_ptr<SocketIo> plain_io(int fd);

class TlsContext {
 public:
  /// `certificate`: PEM, the server's own first, then its chain. `key`: PEM, not encrypted. The
  /// error names the file and what is wrong: `not_found` when a file cannot be read,
  /// `invalid_argument` when it is no PEM or the two do not belong together.
  static Result<std::shared_ptr<TlsContext>> load(const std::string& certificate,
                                                  const std::string& key);
  virtual ~TlsContext() = default;

  /// The server's side of a new connection; null when OpenSSL has no memory left. `fd` stays the
  /// caller's and must outlive it.
  virtual std::unique_ptr<SocketIo> session(int fd) const = 0;
};

}  // namespace assay::mcp
