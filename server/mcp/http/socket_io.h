// Bytes over a connected, non-blocking socket, as they are (here) or inside TLS (tls.h). Nothing
// here waits.
//
//   std::unique_ptr<SocketIo> io = plain_io(fd);           // fd stays the caller's
//   IoResult got = io->read(buffer, sizeof(buffer));
//   if (got.state == IoState::want_read) poll, then again
//
// One thread at a time per object.
#pragma once

#include <cstddef>
#include <memory>

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

}  // namespace assay::mcp
