// Accepts connections and watches the quiet ones with one thread, so that a connection holds a
// worker only while it has something to do. Idle clients, clients that send their headers a byte at
// a time and TLS handshakes that never end cost a file descriptor and a little memory, but no
// thread.
//
//   Listener listener(limits, plain_io,
//                     [](Connection& connection) {
//                       return connection.fill() == IoState::closed ? Next::close : Next::wait;
//                     },
//                     "HTTP/1.1 503 Service Unavailable\r\n\r\n");
//   if (const Status bound = listener.bind("127.0.0.1", 8080); !bound) return bound;
//   listener.run(stop, stopping);  // until stop() is true and the last worker has ended
//
// run() belongs to one thread. `serve` is called from many workers at once, each with a connection
// of its own.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <unordered_map>
#include <unordered_set>

#include "base/mutex.h"
#include "base/result.h"
#include "base/worker_pool.h"
#include "server/mcp/http/connection.h"

namespace assay::mcp {

struct ListenerLimits {
  int threads = 512;           // workers; started when needed
  int max_connections = 4096;  // open at once, and no more than the process may have descriptors
  int backlog = 4096;          // connections that the kernel keeps until they are accepted
  std::chrono::milliseconds first_request_timeout{
      10'000};  // from accepting a connection to the end of its first request's headers
  std::chrono::milliseconds write_timeout{10'000};  // a client takes what we send within this time
  std::chrono::milliseconds drain_timeout{
      2'000};  // after the last answer: what a client still sends is thrown away for so long
};

/// What becomes of a connection after its turn.
enum class Next {
  again,  // there is more to do at once, but the others come first
  wait,   // watch it until bytes arrive or its deadline passes
  drain,  // our side is finished; closing at once could destroy an answer that is under way
  close,
};

class Listener {
 public:
  using Serve = std::function<Next(Connection&)>;
  using IoFor = std::function<std::unique_ptr<SocketIo>(int fd)>;

  /// `overloaded` is what a client gets, as it is, when there is no room; empty: it is just closed.
  Listener(const ListenerLimits& limits, IoFor io_for, Serve serve, std::string overloaded);
  ~Listener();
  Listener(const Listener&) = delete;
  Listener& operator=(const Listener&) = delete;

  /// `unavailable`: the address is taken or not ours; the message says which. Port 0 picks a free
  /// one.
  Status bind(const std::string& host, int port);
  int port() const { return port_; }

  /// Serves until `stop` says true; then `stopping` is called again and again until every worker is
  /// done.
  void run(const std::function<bool()>& stop, const std::function<void()>& stopping);

  int open_connections() const { return open_.load(); }
  int busy_workers() const { return busy_.load(); }
  /// Few enough workers are busy that one may wait for the next request of its connection instead
  /// of giving it back.
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
  int max_open_ = 0;
  int port_ = 0;
  UniqueFd listening_, epoll_;
  std::atomic<int> open_{0}, busy_{0}, draining_{0};
  Mutex mutex_;
  /// The connections that wait, by descriptor.
  std::unordered_map<int, std::unique_ptr<Connection>> watched_ ASSAY_GUARDED_BY(mutex_);
  /// The connections that workers hold.
  std::unordered_set<const Connection*> in_turn_ ASSAY_GUARDED_BY(mutex_);
  std::unique_ptr<WorkerPool> workers_;  // last: its destructor ends all use of the members above
};

}  // namespace assay::mcp
