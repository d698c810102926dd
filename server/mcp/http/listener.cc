#include "server/mcp/http/listener.h"

#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <utility>
#include <vector>

namespace assay::mcp {
namespace {

// While there are fewer workers than this number, a new worker starts as soon as there is work.
// Further workers start only if work has to wait.
constexpr int kEagerWorkers = 32;
constexpr int kGrowMs = 5;            // the interval between checks whether work waits
constexpr int kTickMs = 50;           // the maximum delay of a deadline
constexpr int kAcceptsPerTick = 256;  // after these, waiting connections get their turn
/// The number of file descriptors that are kept free for the store, for the sandbox, and for
/// connections whose last response is sent (Next::drain).
constexpr rlim_t kReservedDescriptors = 256;
/// The size in bytes of a socket's send buffer. An ordinary response fits into the buffer, so a
/// worker need not wait for a client that reads slowly.
constexpr int kSendBufferBytes = 256 << 10;
constexpr std::size_t kMaxDrainBytes = 16 << 20;
constexpr int kDrainReadsPerTurn = 8;  // after these, other connections get their turn

/// Raises the process's soft limit on file descriptors, within the hard limit, so that `wanted`
/// connections are possible. Returns the number of connections that the resulting limit allows.
int connections_allowed(int wanted) {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return wanted;
  const rlim_t need = static_cast<rlim_t>(wanted) + kReservedDescriptors;
  if (limit.rlim_cur < need) {
    limit.rlim_cur = std::min(need, limit.rlim_max);
    if (::setrlimit(RLIMIT_NOFILE, &limit) != 0 || ::getrlimit(RLIMIT_NOFILE, &limit) != 0)
      return wanted / 2;
  }
  const rlim_t left = limit.rlim_cur > 2 * kReservedDescriptors
                          ? limit.rlim_cur - kReservedDescriptors
                          : limit.rlim_cur / 2;
  return static_cast<int>(std::min<rlim_t>(left, static_cast<rlim_t>(wanted)));
}

struct AddressList {
  addrinfo* first = nullptr;
  ~AddressList() {
    if (first != nullptr) ::freeaddrinfo(first);
  }
};

int bound_port(int fd) {
  sockaddr_storage storage{};
  socklen_t size = sizeof(storage);
  if (::getsockname(fd, reinterpret_cast<sockaddr*>(&storage), &size) != 0) return 0;
  return ntohs(storage.ss_family == AF_INET6 ? reinterpret_cast<sockaddr_in6*>(&storage)->sin6_port
                                             : reinterpret_cast<sockaddr_in*>(&storage)->sin_port);
}

}  // namespace

Listener::Listener(const ListenerLimits& limits, IoFor io_for, Serve serve, std::string overloaded,
                   const Clock& clock)
    : limits_(limits),
      io_for_(std::move(io_for)),
      serve_(std::move(serve)),
      overloaded_(std::move(overloaded)),
      clock_(clock),
      max_open_(connections_allowed(limits.max_connections)),
      epoll_(::epoll_create1(EPOLL_CLOEXEC)),
      workers_(std::make_unique<WorkerPool>(static_cast<std::size_t>(limits.threads),
                                            static_cast<std::size_t>(limits.max_connections),
                                            kEagerWorkers)) {}

Listener::~Listener() { workers_.reset(); }

Status Listener::watch_input(int fd) {
  epoll_event event{};
  event.events = EPOLLIN;
  event.data.fd = fd;
  if (::epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, fd, &event) != 0) return fail_errno("epoll_ctl");
  return {};
}

Status Listener::bind(const std::string& host, int port) {
  wake_.reset(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (!wake_) return fail_errno("eventfd");
  if (Status watched = watch_input(wake_.get()); !watched) return watched;
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_PASSIVE;
  AddressList addresses;
  if (const int problem =
          ::getaddrinfo(host.c_str(), std::to_string(port).c_str(), &hints, &addresses.first);
      problem != 0) {
    return fail(ErrorCode::unavailable, ::gai_strerror(problem));
  }
  int error_number = 0;
  for (const addrinfo* address = addresses.first; address != nullptr; address = address->ai_next) {
    UniqueFd fd(::socket(address->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    const int yes = 1;
    // SO_REUSEPORT is not set. With it, two servers could share the port, and each server would get
    // a part of a client's requests.
    if (fd && ::setsockopt(fd.get(), SOL_SOCKET, SO_REUSEADDR, &yes, sizeof(yes)) == 0 &&
        ::bind(fd.get(), address->ai_addr, address->ai_addrlen) == 0 &&
        ::listen(fd.get(), limits_.backlog) == 0) {
      if (Status watched = watch_input(fd.get()); !watched) return watched;
      port_ = bound_port(fd.get());
      listening_ = std::move(fd);
      return {};
    }
    error_number = errno;
  }
  return fail(ErrorCode::unavailable, std::strerror(error_number));
}

void Listener::run(const std::stop_token& stop, const std::function<void()>& tick,
                   const std::function<void()>& stopping) {
  const std::stop_callback wake(stop, [this] { (void)!::eventfd_write(wake_.get(), 1); });
  std::array<epoll_event, 256> events;
  std::int64_t next_tick_ns = clock_.monotonic_ns();
  std::int64_t next_growth_ns = next_tick_ns;
  bool work_waits = false;
  while (!stop.stop_requested()) {
    const int count = ::epoll_wait(epoll_.get(), events.data(), static_cast<int>(events.size()),
                                   work_waits || workers_->waiting() > 0 ? kGrowMs : kTickMs);
    for (int i = 0; i < count; ++i) {
      const int fd = events[static_cast<std::size_t>(i)].data.fd;
      if (fd == listening_.get())
        accept_some(stop);
      else if (fd != wake_.get())
        ready(fd);
    }
    const std::int64_t now_ns = clock_.monotonic_ns();
    if (now_ns >= next_growth_ns) {
      work_waits = workers_->grow();
      next_growth_ns = now_ns + kGrowMs * kNsPerMs;
    }
    if (now_ns < next_tick_ns) continue;
    close_overdue();
    tick();
    next_tick_ns = now_ns + kTickMs * kNsPerMs;
  }
  listening_.reset();
  stopping();
  {
    const MutexLock lock(mutex_);
    stopping_ = true;
    for (const auto& [fd, turn] : in_turn_) turn.connection->stop_reading();
  }
  workers_->wait_idle();
  std::unordered_map<int, std::unique_ptr<Connection>> last;
  {
    const MutexLock lock(mutex_);
    last.swap(watched_);
  }
  for (auto& [fd, connection] : last) close(std::move(connection));
}

bool Listener::has_spare_workers() const {
  return busy_.load() < std::min(limits_.threads, kEagerWorkers);
}

void Listener::accept_some(const std::stop_token& stop) {
  for (int i = 0; i < kAcceptsPerTick; ++i) {
    UniqueFd fd(::accept4(listening_.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
    if (!fd) {
      // The process has no free descriptor, or the kernel has no memory. The connection stays in
      // the kernel's queue, and this thread tries again after a pause. Without the pause, epoll
      // would report the connection again immediately, and this thread would use a core fully.
      if (errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM)
        clock_.pause(std::chrono::milliseconds(kTickMs), stop);
      return;
    }
    const int yes = 1;
    ::setsockopt(fd.get(), IPPROTO_TCP, TCP_NODELAY, &yes, sizeof(yes));
    ::setsockopt(fd.get(), SOL_SOCKET, SO_SNDBUF, &kSendBufferBytes, sizeof(kSendBufferBytes));
    const int number = fd.get();
    std::unique_ptr<SocketIo> io = io_for_(number);
    if (!io) continue;
    epoll_event event{};
    event.events = 0;
    event.data.fd = number;
    if (::epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, number, &event) != 0) continue;
    auto connection =
        std::make_unique<Connection>(std::move(fd), std::move(io), limits_.write_timeout, clock_);
    connection->deadline_ns =
        clock_.monotonic_ns() + std::chrono::nanoseconds(limits_.first_request_timeout).count();
    if (open_.fetch_add(1) >= max_open_)
      refuse(std::move(connection));
    else
      watch(std::move(connection));
  }
}

void Listener::watch(std::unique_ptr<Connection> connection) {
  const int fd = connection->fd();
  epoll_event event{};
  event.events = EPOLLONESHOT | EPOLLRDHUP | (connection->wants_write ? EPOLLOUT : EPOLLIN);
  event.data.fd = fd;
  const MutexLock lock(mutex_);
  watched_[fd] = std::move(connection);
  // The mutex is still locked. So when the event arrives, ready() waits for the mutex and then
  // finds the connection in watched_.
  ::epoll_ctl(epoll_.get(), EPOLL_CTL_MOD, fd, &event);
}

void Listener::ready(int fd) {
  std::unique_ptr<Connection> connection;
  std::stop_source gone(std::nostopstate);
  {
    const MutexLock lock(mutex_);
    if (const auto found = watched_.find(fd); found != watched_.end()) {
      connection = std::move(found->second);
      watched_.erase(found);
    } else if (const auto turn = in_turn_.find(fd); turn != in_turn_.end()) {
      gone = turn->second.gone;
      turn->second.hang_up_watched = false;  // EPOLLONESHOT
    }
  }
  if (!connection) {
    // The mutex is not locked here, because request_stop() runs callbacks of the handlers, which
    // may use this listener.
    gone.request_stop();
    return;
  }
  if (connection->draining) return discard(std::move(connection));
  queue(std::move(connection));
}

void Listener::queue(std::unique_ptr<Connection> connection) {
  {
    const MutexLock lock(mutex_);
    if (stopping_) connection->stop_reading();
    in_turn_.insert_or_assign(connection->fd(), Turn{connection.get()});
  }
  auto shared = std::make_shared<std::unique_ptr<Connection>>(std::move(connection));
  ++busy_;
  if (workers_->submit([this, shared] { turn(std::move(*shared)); })) return;
  --busy_;
  {
    const MutexLock lock(mutex_);
    in_turn_.erase((*shared)->fd());
  }
  refuse(std::move(*shared));
}

void Listener::turn(std::unique_ptr<Connection> connection) {
  const Next next = serve_(*connection);
  --busy_;
  {
    const MutexLock lock(mutex_);
    in_turn_.erase(connection->fd());
  }
  switch (next) {
    case Next::again: return queue(std::move(connection));
    case Next::wait: return watch(std::move(connection));
    case Next::drain: return drain(std::move(connection));
    case Next::close: return close(std::move(connection));
  }
}

void Listener::watch_hang_up(const Connection& connection, std::stop_source gone) {
  epoll_event event{};
  event.events = EPOLLONESHOT | EPOLLRDHUP;
  event.data.fd = connection.fd();
  const MutexLock lock(mutex_);
  const auto turn = in_turn_.find(connection.fd());
  if (turn == in_turn_.end()) return;
  turn->second.gone = std::move(gone);
  if (std::exchange(turn->second.hang_up_watched, true)) return;
  // The mutex is still locked. So when the event arrives, ready() waits for the mutex and then
  // finds `gone` in in_turn_.
  ::epoll_ctl(epoll_.get(), EPOLL_CTL_MOD, connection.fd(), &event);
}

void Listener::refuse(std::unique_ptr<Connection> connection) {
  // A client that is refused occupies a descriptor until it has read the response. Therefore only a
  // limited number of clients get this response. The connections of all others are closed at once.
  if (overloaded_.empty() || draining_.load() >= max_open_ / 4 ||
      !connection->try_write(overloaded_))
    return close(std::move(connection));
  drain(std::move(connection));
}

void Listener::drain(std::unique_ptr<Connection> connection) {
  connection->finish_writing();
  ++draining_;
  connection->draining = true;
  connection->wants_write = false;
  connection->deadline_ns =
      clock_.monotonic_ns() + std::chrono::nanoseconds(limits_.drain_timeout).count();
  watch(std::move(connection));
}

void Listener::discard(std::unique_ptr<Connection> connection) {
  std::array<char, 16 << 10> sink;
  for (int reads = 0; reads < kDrainReadsPerTurn; ++reads) {
    const ssize_t got = ::recv(connection->fd(), sink.data(), sink.size(), MSG_DONTWAIT);
    if (got > 0) connection->drained_bytes += static_cast<std::size_t>(got);
    if (got > 0 && connection->drained_bytes < kMaxDrainBytes) continue;
    if (got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR)) break;
    return close(std::move(connection));
  }
  watch(std::move(connection));
}

void Listener::close_overdue() {
  std::vector<std::unique_ptr<Connection>> overdue;
  {
    const std::int64_t now_ns = clock_.monotonic_ns();
    const MutexLock lock(mutex_);
    for (auto entry = watched_.begin(); entry != watched_.end();) {
      if (entry->second->deadline_ns > now_ns) {
        ++entry;
        continue;
      }
      overdue.push_back(std::move(entry->second));
      entry = watched_.erase(entry);
    }
  }
  for (auto& connection : overdue) close(std::move(connection));
}

void Listener::close(std::unique_ptr<Connection> connection) {
  if (connection->draining) --draining_;
  connection.reset();  // before open_ is decremented, so that open_ is never too low
  --open_;
}

}  // namespace assay::mcp
