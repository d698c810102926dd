// TLS for the HTTP server: a certificate with its key, and the sessions that use it. TLS 1.2 at
// least, HTTP/1.1 only (ALPN), no renegotiation.
//
//   const Result<std::shared_ptr<TlsContext>> tls = TlsContext::load("cert.pem", "key.pem");
//   std::unique_ptr<SocketIo> io = (*tls)->session(fd);      // its first reads and writes do the
//   handshake
//
// TlsContext is thread-safe; a session belongs to one thread at a time. SIGPIPE must be ignored.
#pragma once

#include <memory>
#include <string>

#include "base/result.h"
#include "server/mcp/http/socket_io.h"

namespace assay::mcp {

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
