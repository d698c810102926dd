#include "server/mcp/http/connection.h"

#include <netdb.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>

namespace assay::mcp {
namespace {

constexpr std::size_t kReadBytes = 16 << 10;
constexpr std::size_t kReadAheadBytes = 64 << 10;
constexpr std::size_t kCollectBytes = 256 << 10;

using NameCall = int (*)(int, sockaddr*, socklen_t*);
int peer_name(int fd, sockaddr* address, socklen_t* size) {
  return ::getpeername(fd, address, size);
}
int own_name(int fd, sockaddr* address, socklen_t* size) {
  return ::getsockname(fd, address, size);
}

/// Returns the address that the system call `call` (getsockname or getpeername) reports for the
/// connection. Returns an empty address if the connection is already closed.
SocketAddress address_of(int fd, NameCall call) {
  sockaddr_storage storage{};
  socklen_t size = sizeof(storage);
  std::array<char, NI_MAXHOST> host{};
  std::array<char, NI_MAXSERV> port{};
  auto* address = reinterpret_cast<sockaddr*>(&storage);
  if (call(fd, address, &size) != 0) return {};
  if (::getnameinfo(address, size, host.data(), host.size(), port.data(), port.size(),
                    NI_NUMERICHOST | NI_NUMERICSERV) != 0)
    return {};
  return {host.data(), std::atoi(port.data())};
}

}  // namespace

Connection::Connection(UniqueFd fd, std::unique_ptr<SocketIo> io,
                       std::chrono::milliseconds write_timeout, const Clock& clock)
    : fd_(std::move(fd)),
      io_(std::move(io)),
      write_timeout_(write_timeout),
      clock_(clock),
      remote_(address_of(fd_.get(), peer_name)),
      local_(address_of(fd_.get(), own_name)) {}

IoState Connection::fill() {
  input_.erase(0, used_);
  used_ = 0;
  std::array<char, kReadBytes> chunk;
  bool any = false;
  while (input_.size() < kReadAheadBytes) {
    const IoResult got = io_->read(chunk.data(), chunk.size());
    if (got.state != IoState::done) {
      wants_write = got.state == IoState::want_write;
      return any ? IoState::done : got.state;
    }
    input_.append(chunk.data(), got.bytes);
    any = true;
    if (got.bytes < chunk.size() && !io_->pending()) break;
  }
  return any ? IoState::done : IoState::want_read;
}

void Connection::consume(std::size_t bytes) { used_ += std::min(bytes, input().size()); }

std::size_t Connection::read(char* buffer, std::size_t size, std::int64_t until_ns) {
  if (const std::string_view ahead = input().substr(0, size); !ahead.empty()) {
    std::memcpy(buffer, ahead.data(), ahead.size());
    consume(ahead.size());
    return ahead.size();
  }
  if (size == 0) return 0;
  while (true) {
    const IoState got = fill();
    if (got == IoState::done) return read(buffer, size, until_ns);
    if (got == IoState::closed || !wait_for(got == IoState::want_read ? POLLIN : POLLOUT, until_ns))
      return 0;
  }
}

void Connection::wait_readable(std::chrono::milliseconds timeout) const {
  if (!io_->pending())
    wait_for(POLLIN, clock_.monotonic_ns() + std::chrono::nanoseconds(timeout).count());
}

bool Connection::write(std::string_view text) {
  output_.append(text);
  return output_.size() > kCollectBytes ? flush() : !broken_;
}

bool Connection::flush() {
  const std::int64_t until_ns =
      clock_.monotonic_ns() + std::chrono::nanoseconds(write_timeout_).count();
  std::size_t done = 0;
  while (done < output_.size() && !broken_) {
    const IoResult put = io_->write(output_.data() + done, output_.size() - done);
    done += put.bytes;
    if (put.state == IoState::done) continue;
    broken_ = put.state == IoState::closed ||
              !wait_for(put.state == IoState::want_read ? POLLIN : POLLOUT, until_ns);
  }
  output_.clear();
  return !broken_;
}

bool Connection::try_write(std::string_view text) {
  return !broken_ && io_->write(text.data(), text.size()).bytes == text.size();
}

void Connection::finish_writing() {
  flush();
  io_->finish_writing();
  ::shutdown(fd_.get(), SHUT_WR);
}

bool Connection::hung_up() const {
  pollfd entry{fd_.get(), POLLRDHUP, 0};
  return ::poll(&entry, 1, 0) > 0;  // POLLERR and POLLHUP are always reported
}

bool Connection::writable() const {
  pollfd entry{fd_.get(), POLLOUT, 0};
  return ::poll(&entry, 1, 0) > 0;
}

void Connection::stop_reading() const { ::shutdown(fd_.get(), SHUT_RD); }

void Connection::stop_writing() const { ::shutdown(fd_.get(), SHUT_WR); }

bool Connection::wait_for(short events, std::int64_t until_ns) const {
  while (true) {
    const std::int64_t left_ms = (until_ns - clock_.monotonic_ns()) / kNsPerMs;
    if (left_ms <= 0) return false;
    pollfd entry{fd_.get(), events, 0};
    const int ready = ::poll(&entry, 1, static_cast<int>(left_ms));
    if (ready > 0) return true;
    if (ready == 0 || errno != EINTR) return false;
  }
}

}  // namespace assay::mcp
