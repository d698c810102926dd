#include "server/mcp/http/socket_io.h"

#include <sys/socket.h>

#include <cerrno>

namespace assay::mcp {
namespace {

class PlainIo final : public SocketIo {
 public:
  explicit PlainIo(int fd) : fd_(fd) {}

  IoResult read(char* buffer, std::size_t size) override {
    const ssize_t got = ::recv(fd_, buffer, size, MSG_DONTWAIT);
    if (got > 0) return {IoState::done, static_cast<std::size_t>(got)};
    return {got < 0 && try_again() ? IoState::want_read : IoState::closed, 0};
  }

  bool pending() const override { return false; }

  IoResult write(const char* data, std::size_t size) override {
    const ssize_t put = ::send(fd_, data, size, MSG_DONTWAIT | MSG_NOSIGNAL);
    if (put > 0) return {IoState::done, static_cast<std::size_t>(put)};
    return {put < 0 && try_again() ? IoState::want_write : IoState::closed, 0};
  }

 private:
  static bool try_again() { return errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR; }
  const int fd_;
};

}  // namespace

std::unique_ptr<SocketIo> plain_io(int fd) { return std::make_unique<PlainIo>(fd); }

}  // namespace assay::mcp
