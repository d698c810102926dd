// The small parts: progress gate, table of requests in flight, worker pool, event-stream reader.
#include <cmath>
#include <vector>

#include "base/worker_pool.h"
#include "server/mcp/core/call.h"
#include "server/mcp/core/in_flight.h"
#include "server/mcp/protocol/sse.h"
#include "tests/server/mcp/fixture.h"

namespace assay::mcp {

using namespace test;

TEST_CASE("progress: strictly rising, finite, silent after close") {
  std::vector<double> seen;
  ProgressGate gate(
      "t", [&](const json& message) { seen.push_back(message["params"]["progress"]); },
      std::chrono::milliseconds(0));
  for (const double value :
       {1.0, 1.0, 0.5, 2.0, static_cast<double>(NAN), static_cast<double>(INFINITY), 3.0})
    gate.report(value, 10, "m");
  gate.close();
  gate.report(4, 10, "m");
  CHECK(seen == std::vector<double>{1.0, 2.0, 3.0});
}

TEST_CASE("progress: rate-limited") {
  int seen = 0;
  ProgressGate gate(1, [&](const json&) { ++seen; });
  for (int i = 0; i < 100'000; ++i) gate.report(i, 0, "");
  CHECK(seen >= 1);
  CHECK(seen < 20);
}

TEST_CASE("in flight: tickets leave the table, also when moved") {
  InFlight table;
  {
    InFlight::Ticket first = table.open("a", 1);
    InFlight::Ticket moved = std::move(first);
    CHECK(table.size() == 1);
    table.cancel("a", "1");  // another id: a string
    CHECK_FALSE(moved.cancelled());
    table.cancel("a", 1);
    CHECK(moved.cancelled());
  }
  CHECK(table.size() == 0);
}

TEST_CASE("worker pool: lazy, bounded, finishes what it took") {
  std::atomic<int> done{0};
  std::atomic<bool> go{false};
  {
    WorkerPool pool(2, 3);
    CHECK(pool.wait_idle(std::chrono::milliseconds(0)));
    const auto work = [&] {
      while (!go) std::this_thread::yield();
      ++done;
    };
    REQUIRE(pool.submit(work));
    REQUIRE(pool.submit(work));
    CHECK_FALSE(pool.wait_idle(std::chrono::milliseconds(50)));
    int accepted = 2;
    while (pool.submit(work)) ++accepted;
    CHECK(accepted == 5);  // two run, three wait
    go = true;
    CHECK(pool.wait_idle(std::chrono::seconds(10)));
    CHECK(done == 5);
    REQUIRE(pool.submit(work));
  }
  CHECK(done == 6);
}

TEST_CASE("sse: data lines, comments, line ends, unfinished events") {
  CHECK(sse_data(": hello\n\ndata: a\n\nevent: x\nid: 1\ndata:b\r\ndata: c\r\n\r\ndata: cut off")
            .size() == 2);
  CHECK(sse_data("data: a\ndata: b\n\n") == std::vector<std::string>{"a\nb"});
  CHECK(sse_data("").empty());
  SseReader reader;
  CHECK(reader.feed("id: 1\nretry: 20\ndata:\n\nid: 2\ndata: a\n\nid: 3\ndata: cut").size() == 2);
  CHECK(reader.last_id() == "2");
  CHECK(reader.retry_ms() == 20);
  reader.begin_stream();
  CHECK(reader.feed("data: b\n\nretry: soon\nid\n\n") == std::vector<std::string>{"b"});
  CHECK(reader.last_id().empty());  // an id without a value takes it back
  CHECK(reader.retry_ms() == 20);
}

}  // namespace assay::mcp
