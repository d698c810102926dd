// SocketIo reads and writes bytes on a connected, non-blocking socket, in plain text or with TLS.
// It never waits. TlsContext contains the server's certificate and key, and creates a SocketIo for
// each TLS connection. These connections use TLS 1.2 or newer, only HTTP/1.1 (ALPN), and no
// renegotiation.
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
  done,        // at least one byte was read or written
  want_read,   // retry when the socket is readable
  want_write,  // retry when the socket is writable; with TLS, a read may need this too
  closed,      // end of the stream or an error: the connection is unusable
};

struct IoResult {
  IoState state = IoState::closed;
  std::size_t bytes = 0;
};

class SocketIo {
 public:
  virtual ~SocketIo() = default;
  virtual IoResult read(char* buffer, std::size_t size) = 0;
  /// Returns true if the object already contains decrypted bytes. read() then succeeds although the
  /// socket is not readable.
  virtual bool pending() const = 0;
  virtual IoResult write(const char* data, std::size_t size) = 0;
  /// Tells the client that no more bytes follow. Must be called before the socket's sending
  /// direction is shut down. Does not wait.
  virtual void finish_writing() {}
};

/// Reads and writes `fd` without TLS. The caller still owns `fd`.
std::unique_ptr<SocketIo> plain_io(int fd);

class TlsContext {
 public:
  /// Loads the certificate and the key. `certificate` is a PEM file that contains the server's own
  /// certificate and then the certificates of its chain. `key` is an unencrypted PEM file. Errors:
  /// not_found if a file cannot be read; invalid_argument if a file is not PEM, or if the key does
  /// not belong to the certificate. The message names the file and the problem.
  static Result<std::shared_ptr<TlsContext>> load(const std::string& certificate,
                                                  const std::string& key);
  virtual ~TlsContext() = default;

  /// Returns the server's side of a TLS connection on `fd`, or null if OpenSSL has no memory left.
  /// The caller still owns `fd`, which must outlive the returned object.
  virtual std::unique_ptr<SocketIo> session(int fd) const = 0;
  /// Reads both files again. Connections that begin later use the new certificate. On an error, the
  /// old certificate stays in use. Errors: those of load().
  virtual Status reload() = 0;
};

}  // namespace assay::mcp
