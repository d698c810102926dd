#include "server/mcp/http_peer.h"

#include <arpa/inet.h>
#include <dirent.h>
#include <netdb.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <cstdlib>
#include <functional>

namespace assay::mcp {
namespace {

struct Address {
  std::string host;
  int port = -1;
};

using NameCall = int (*)(int, sockaddr*, socklen_t*);

/// getpeername or getsockname of `fd`; port -1 when it is no connected internet socket.
Address address_of(int fd, NameCall call) {
  sockaddr_storage storage{};
  socklen_t size = sizeof(storage);
  if (call(fd, reinterpret_cast<sockaddr*>(&storage), &size) != 0) return {};
  Address out;
  if (storage.ss_family == AF_INET)
    out.port = ntohs(reinterpret_cast<sockaddr_in*>(&storage)->sin_port);
  else if (storage.ss_family == AF_INET6)
    out.port = ntohs(reinterpret_cast<sockaddr_in6*>(&storage)->sin6_port);
  else
    return {};
  std::array<char, NI_MAXHOST> host{};
  if (::getnameinfo(reinterpret_cast<sockaddr*>(&storage), size, host.data(), host.size(), nullptr, 0, NI_NUMERICHOST) == 0) out.host = host.data();
  return out;
}

int peer_name(int fd, sockaddr* address, socklen_t* size) { return ::getpeername(fd, address, size); }
int own_name(int fd, sockaddr* address, socklen_t* size) { return ::getsockname(fd, address, size); }

/// Calls `use` for each open descriptor until it returns true.
void each_descriptor(const std::function<bool(int)>& use) {
  DIR* directory = ::opendir("/proc/self/fd");
  if (directory == nullptr) return;
  while (const dirent* entry = ::readdir(directory)) {
    char* end = nullptr;
    const long fd = std::strtol(entry->d_name, &end, 10);
    if (end == entry->d_name || *end != '\0') continue;
    if (use(static_cast<int>(fd))) break;
  }
  ::closedir(directory);
}

}  // namespace

bool HangUp::operator()() {
  const std::lock_guard lock(mutex_);
  if (!looked_) {
    looked_ = true;
    each_descriptor([this](int fd) {
      const Address peer = address_of(fd, peer_name);
      if (peer.port != remote_port_ || peer.host != remote_address_ || address_of(fd, own_name).port != local_port_) return false;
      fd_ = fd;
      return true;
    });
  }
  if (fd_ < 0) return false;
  char byte = 0;
  const ssize_t got = ::recv(fd_, &byte, 1, MSG_PEEK | MSG_DONTWAIT);
  return got == 0 || (got < 0 && errno != EAGAIN && errno != EWOULDBLOCK && errno != EINTR);
}

void stop_reading(int local_port) {
  each_descriptor([local_port](int fd) {
    if (address_of(fd, peer_name).port >= 0 && address_of(fd, own_name).port == local_port) ::shutdown(fd, SHUT_RD);
    return false;
  });
}

}  // namespace assay::mcp
