// Tests the scope of a call: progress, and the table of running requests.
#include "server/mcp/core/call.h"

#include <cmath>
#include <vector>

#include "tests/server/mcp/fixture.h"

namespace assay::mcp {

using namespace test;

TEST_CASE("progress: strictly rising, finite, silent after close") {
  ManualClock clock;
  std::vector<double> seen;
  const auto note = [&](const json& message) { seen.push_back(message["params"]["progress"]); };
  ProgressGate gate("t", note, clock);
  for (const double value :
       {1.0, 1.0, 0.5, 2.0, static_cast<double>(NAN), static_cast<double>(INFINITY), 3.0}) {
    gate.report(value, 10, "m");
    clock.advance_ms(100);
  }
  gate.close();
  gate.report(4, 10, "m");
  CHECK(seen == std::vector<double>{1.0, 2.0, 3.0});
}

TEST_CASE("progress: at most one report in 100 ms") {
  ManualClock clock;
  int seen = 0;
  ProgressGate gate(
      1, [&](const json&) { ++seen; }, clock);
  for (int ms = 0; ms < 1000; ++ms) {
    gate.report(ms, 0, "");
    clock.advance_ms(1);
  }
  CHECK(seen == 10);
}

TEST_CASE("in flight: tickets leave the table, also when moved") {
  InFlight table;
  {
    InFlight::Ticket first = table.open("a", 1);
    InFlight::Ticket moved = std::move(first);
    CHECK(table.size() == 1);
    table.cancel("a", "1");  // a different id, because it is a string
    CHECK_FALSE(moved.cancelled());
    const std::stop_token stop = moved.stop();
    CHECK_FALSE(stop.stop_requested());
    table.cancel("a", 1);
    CHECK(moved.cancelled());
    CHECK(stop.stop_requested());
  }
  CHECK(table.size() == 0);
}

TEST_CASE("in flight: a client that hangs up stops the work without cancelling the request") {
  InFlight table;
  const InFlight::Ticket ticket = table.open("a", 1);
  ticket.request_stop();
  CHECK(ticket.stop().stop_requested());
  CHECK_FALSE(ticket.cancelled());
}

TEST_CASE("in flight: a request knows whether its client cancelled it or the server ends") {
  InFlight table;
  const InFlight::Ticket cancelled = table.open("a", 1);
  table.cancel("a", 1);
  CHECK_FALSE(cancelled.server_ends());
  const InFlight::Ticket ended = table.open("a", 2);
  const InFlight::Ticket other = table.open("b", 3);
  table.end_scope("a");
  CHECK_FALSE(ended.cancelled());  // the client still expects an answer
  CHECK(ended.server_ends());
  CHECK(ended.stop().stop_requested());
  CHECK_FALSE(other.server_ends());
  table.end_all();
  CHECK(other.server_ends());
  const InFlight::Ticket late = table.open("c", 4);
  CHECK(late.server_ends());
  CHECK_FALSE(late.cancelled());
  CHECK(late.stop().stop_requested());
}

}  // namespace assay::mcp
