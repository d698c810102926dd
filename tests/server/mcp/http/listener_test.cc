#include "server/mcp/http/listener.h"

#include <array>
#include <atomic>
#include <functional>
#include <latch>
#include <stop_token>
#include <thread>

#include "base/clock.h"
#include "server/mcp/http/socket_io.h"
#include "tests/server/mcp/http/raw_http.h"

namespace assay::mcp {
using namespace test;
namespace {

constexpr std::int64_t kReadNs = 60'000'000'000;  // longer than any step of a test

/// A listener that runs on a separate thread. It calls `serve` each time a worker gets a
/// connection.
class RunningListener {
 public:
  RunningListener(Listener::Serve serve, std::function<void()> stopping)
      : listener_({}, plain_io, std::move(serve), ""), stopping_(std::move(stopping)) {
    REQUIRE(listener_.bind("127.0.0.1", 0));
    thread_ = std::thread([this] {
      listener_.run(
          stop_.get_token(), [] {}, stopping_);
    });
  }
  ~RunningListener() { stop(); }

  /// Requests the stop and waits for the end of run().
  void stop() {
    stop_.request_stop();
    if (thread_.joinable()) thread_.join();
  }
  int port() const { return listener_.port(); }

 private:
  Listener listener_;
  std::function<void()> stopping_;
  std::stop_source stop_;
  std::thread thread_;
};

}  // namespace

TEST_CASE("listener: a stop ends the turn that reads, and calls `stopping` once") {
  std::latch in_turn(1);
  std::atomic<int> stopped{0};
  std::atomic<bool> saw_end{false};
  RunningListener running(
      [&](Connection& connection) {
        std::array<char, 16> part;
        const std::int64_t until_ns = system_clock().monotonic_ns() + kReadNs;
        connection.read(part.data(), part.size(), until_ns);  // the byte that woke the worker
        in_turn.count_down();
        saw_end = connection.read(part.data(), part.size(), until_ns) == 0;
        return Next::close;
      },
      [&] { ++stopped; });
  const UniqueFd client = connect_to(running.port());
  REQUIRE(send_text(client.get(), "x"));
  in_turn.wait();
  running.stop();
  CHECK(saw_end);
  CHECK(stopped == 1);
}

TEST_CASE("listener: a turn that begins after the stop finds the end of its input") {
  std::latch in_turn(1);
  std::latch stopping(1);
  std::atomic<int> turns{0};
  std::atomic<bool> saw_end{false};
  RunningListener running(
      [&](Connection& connection) {
        std::array<char, 16> part;
        if (++turns == 1) {
          connection.read(part.data(), part.size(), system_clock().monotonic_ns() + kReadNs);
          in_turn.count_down();
          stopping.wait();
          return Next::again;
        }
        saw_end =
            connection.read(part.data(), part.size(), system_clock().monotonic_ns() + kReadNs) == 0;
        return Next::close;
      },
      [&] { stopping.count_down(); });
  const UniqueFd client = connect_to(running.port());
  REQUIRE(send_text(client.get(), "x"));
  in_turn.wait();
  running.stop();
  CHECK(turns == 2);
  CHECK(saw_end);
}

TEST_CASE("listener: a stop that was requested before run() ends it at once") {
  std::stop_source stop;
  stop.request_stop();
  Listener listener(
      {}, plain_io, [](Connection&) { return Next::close; }, "");
  REQUIRE(listener.bind("127.0.0.1", 0));
  int stopped = 0;
  listener.run(
      stop.get_token(), [] {}, [&] { ++stopped; });
  CHECK(stopped == 1);
}

}  // namespace assay::mcp
