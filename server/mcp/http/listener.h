// Listener accepts connections and gives them to worker threads. One thread watches all connections
// that wait for input. A connection occupies a worker only while it has work. Idle clients, clients
// that send their headers one byte at a time, and unfinished TLS handshakes need a file descriptor
// and a little memory, but no worker.
//
//   Listener listener({}, plain_io,
//                     [](Connection& connection) {
//                       return connection.fill() == IoState::closed ? Next::close : Next::wait;
//                     },
//                     "HTTP/1.1 503 Service Unavailable\r\n\r\n");
//   if (const Status bound = listener.bind("127.0.0.1", 8080); !bound) return bound;
//   listener.run(stop, tick, stopping);  // returns when the last worker has ended
//
// run() belongs to one thread. Many workers call `serve` simultaneously, each with a different
// connection.
#pragma once

#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <stop_token>
#include <string>
#include <unordered_map>

#include "base/clock.h"
#include "base/mutex.h"
#include "base/result.h"
#include "base/worker_pool.h"
#include "server/mcp/http/connection.h"

namespace assay::mcp {

struct ListenerLimits {
  int threads = 512;           // worker threads; they are started when needed
  int max_connections = 4096;  // open connections; the limit on descriptors may lower this
  int backlog = 4096;          // connections that the kernel queues until they are accepted
  /// The time from accepting a connection until the headers of its first request have arrived.
  std::chrono::milliseconds first_request_timeout{10'000};
  std::chrono::milliseconds write_timeout{10'000};  // until the client has read what was sent
  /// The time after the last response in which further input is read and discarded.
  std::chrono::milliseconds drain_timeout{2'000};
};

/// The next step of the listener for a connection.
enum class Next {
  again,  // serve the connection again, after others that wait for a worker
  wait,   // watch the connection until bytes arrive or its deadline passes
  /// Send nothing more, but read and discard input for some time. If the server closed the
  /// connection immediately, a response that is still on its way could be lost.
  drain,
  close,
};

class Listener {
 public:
  using Serve = std::function<Next(Connection&)>;
  using IoFor = std::function<std::unique_ptr<SocketIo>(int fd)>;

  /// If a connection exceeds a limit, the listener sends the bytes `overloaded` and closes the
  /// connection. The listener closes the connection without a response if `overloaded` is empty, or
  /// if too many connections are being closed at the same time. The clock must outlive the object.
  Listener(const ListenerLimits& limits, IoFor io_for, Serve serve, std::string overloaded,
           const Clock& clock = system_clock());
  ~Listener();
  Listener(const Listener&) = delete;
  Listener& operator=(const Listener&) = delete;

  /// Binds the address. Port 0 selects a free port. Error: unavailable if the address is in use or
  /// does not belong to this machine.
  Status bind(const std::string& host, int port);
  int port() const { return port_; }

  /// Serves until `stop` is requested, and calls `tick` about every 50 ms; `tick` must not wait.
  /// After the stop, calls `stopping`, which must make the workers finish, and waits for all
  /// workers. bind() must have succeeded before.
  void run(const std::stop_token& stop, const std::function<void()>& tick,
           const std::function<void()>& stopping);

  /// The worker that serves `connection` calls this function. If the client disconnects before the
  /// worker is done, the listener requests a stop of `gone`. A later call replaces `gone`.
  void watch_hang_up(const Connection& connection, std::stop_source gone);

  int open_connections() const { return open_.load(); }
  int busy_workers() const { return busy_.load(); }
  /// Returns true if enough workers are free. A worker may then wait for the next request on its
  /// connection. Otherwise it must return the connection to the listener.
  bool has_spare_workers() const;

 private:
  /// Adds a descriptor to the epoll set. epoll then reports when the descriptor has input.
  Status watch_input(int fd);
  void accept_some(const std::stop_token& stop);
  void queue(std::unique_ptr<Connection> connection);
  void turn(std::unique_ptr<Connection> connection);
  void watch(std::unique_ptr<Connection> connection);
  void ready(int fd);
  void refuse(std::unique_ptr<Connection> connection);
  void drain(std::unique_ptr<Connection> connection);
  void discard(std::unique_ptr<Connection> connection);
  void close_overdue();
  void close(std::unique_ptr<Connection> connection);

  const ListenerLimits limits_;
  const IoFor io_for_;
  const Serve serve_;
  const std::string overloaded_;
  const Clock& clock_;
  int max_open_ = 0;
  int port_ = 0;
  UniqueFd listening_, epoll_;
  UniqueFd wake_;  // an eventfd that ends the wait of run() when the stop is requested
  std::atomic<int> open_{0}, busy_{0}, draining_{0};
  Mutex mutex_;
  /// The connections that the listener watches, by file descriptor.
  std::unordered_map<int, std::unique_ptr<Connection>> watched_ ASSAY_GUARDED_BY(mutex_);
  struct Turn {
    const Connection* connection;
    std::stop_source gone{std::nostopstate};
    bool hang_up_watched = false;  // epoll will report when the client disconnects
  };
  /// The connections that workers serve or will serve next, by file descriptor.
  std::unordered_map<int, Turn> in_turn_ ASSAY_GUARDED_BY(mutex_);
  /// True after the stop. A worker that takes a connection then finds the end of the connection's
  /// input.
  bool stopping_ ASSAY_GUARDED_BY(mutex_) = false;
  /// This member must be the last one, because its destructor waits for threads that use the
  /// members above.
  std::unique_ptr<WorkerPool> workers_;
};

}  // namespace assay::mcp
