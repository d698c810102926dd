// Listener accepts connections and watches those that wait with one thread. A connection holds a
// worker only while it has work. Idle clients, clients that send their headers a byte at a time,
// and TLS handshakes that never end cost a file descriptor and a little memory, but no thread.
//
//   Listener listener({}, plain_io,
//                     [](Connection& connection) {
//                       return connection.fill() == IoState::closed ? Next::close : Next::wait;
//                     },
//                     "HTTP/1.1 503 Service Unavailable\r\n\r\n");
//   if (const Status bound = listener.bind("127.0.0.1", 8080); !bound) return bound;
//   listener.run(stop, tick, stopping);  // until stop() is true and the last worker has ended
//
// run() belongs to one thread. Many workers call `serve` at once, each with its own connection.
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
  int threads = 512;           // workers; they are started when needed
  int max_connections = 4096;  // open at once; the limit on descriptors may lower it
  int backlog = 4096;          // connections that the kernel keeps until they are accepted
  /// From accepting a connection to the end of the headers of its first request.
  std::chrono::milliseconds first_request_timeout{10'000};
  std::chrono::milliseconds write_timeout{10'000};  // until a client has taken what is sent
  /// After the last answer: the time for which further input is read and thrown away.
  std::chrono::milliseconds drain_timeout{2'000};
};

/// The next step of a connection after its turn.
enum class Next {
  again,  // another turn, after the other connections that wait for one
  wait,   // watch it until bytes arrive or its deadline passes
  drain,  // nothing more is sent; closing at once could destroy an answer that is under way
  close,
};

class Listener {
 public:
  using Serve = std::function<Next(Connection&)>;
  using IoFor = std::function<std::unique_ptr<SocketIo>(int fd)>;

  /// `overloaded` is sent, as it is, to a client when there is no room. An empty text is not sent:
  /// the connection is closed. The clock must outlive the object.
  Listener(const ListenerLimits& limits, IoFor io_for, Serve serve, std::string overloaded,
           const Clock& clock = system_clock());
  ~Listener();
  Listener(const Listener&) = delete;
  Listener& operator=(const Listener&) = delete;

  /// Binds the address; port 0 picks a free one. The Error is `unavailable` when the address is
  /// taken or is not one of this machine.
  Status bind(const std::string& host, int port);
  int port() const { return port_; }

  /// Serves until `stop` returns true. Then it calls `stopping` again and again until every worker
  /// is done. It calls `tick`, which must not wait, every 50 ms.
  void run(const std::function<bool()>& stop, const std::function<void()>& tick,
           const std::function<void()>& stopping);

  /// Called by the worker that has `connection`. Requests `gone` when the client hangs up during
  /// this turn. A later call replaces an earlier one.
  void watch_hang_up(const Connection& connection, std::stop_source gone);

  int open_connections() const { return open_.load(); }
  int busy_workers() const { return busy_.load(); }
  /// True when so few workers are busy that one may wait for the next request of its connection
  /// instead of giving the connection back.
  bool has_spare_workers() const;

 private:
  void accept_some();
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
  std::atomic<int> open_{0}, busy_{0}, draining_{0};
  Mutex mutex_;
  /// The connections that wait, by descriptor.
  std::unordered_map<int, std::unique_ptr<Connection>> watched_ ASSAY_GUARDED_BY(mutex_);
  struct Turn {
    const Connection* connection;
    std::stop_source gone{std::nostopstate};
  };
  /// The connections that workers hold, by descriptor.
  std::unordered_map<int, Turn> in_turn_ ASSAY_GUARDED_BY(mutex_);
  std::unique_ptr<WorkerPool> workers_;  // last: its destructor ends all use of the members above
};

}  // namespace assay::mcp
