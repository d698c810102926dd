// Tests that a client can repeat a charged call whose answer it did not get.
#include <string>

#include "tests/server/runs/tool_bench.h"

namespace assay::tools {
namespace {

using mcp::ToolResult;
using nlohmann::json;
using testing::has;
using testing::ToolBench;

json named_call(const std::string& run, const std::string& id, const std::string& code) {
  return {{"operator", "vector_add"}, {"run", run}, {"call_id", id}, {"code", code}};
}

}  // namespace

TEST_CASE("a repeated call with the same id is charged once, and gets the job of the first one") {
  ToolBench bench;
  const std::string run = bench.services.start(Track::iterative, "vector_add");
  for (const char* tool : {"compile", "run_tests", "profile", "submit"}) {
    INFO(tool);
    const json call = named_call(run, tool, "# fake: fail\n");
    const ToolResult first = bench.call(tool, call);
    const ToolResult again = bench.call(tool, call);
    CHECK(again.structured["outcome"] == "fail");
    CHECK(again.structured["job"] == first.structured["job"]);
    CHECK(again.structured.value("calls_left", -1) == first.structured.value("calls_left", -1));
  }
  CHECK(bench.call("scorecard", {{"run", run}}).structured["operators"][0]["tool_calls"] == 4);
}

TEST_CASE("an id belongs to one tool, operator and source of its run") {
  ToolBench bench;
  const std::string run = bench.services.start(Track::iterative);
  const json first = named_call(run, "a", "# fake: fail\n");
  const ToolResult job = bench.call("run_tests", first);
  CHECK(has(bench.call("compile", first).text, "belongs to another call of this run"));
  CHECK(bench.call("run_tests", named_call(run, "a", "# fake: pass\n")).is_error);
  json other = first;
  other["operator"] = "row_sum";
  CHECK(bench.call("run_tests", other).is_error);
  const std::string second = bench.services.start(Track::iterative);
  const ToolResult there = bench.call("run_tests", named_call(second, "a", "# fake: fail\n"));
  CHECK(there.structured["job"] != job.structured["job"]);
  CHECK(there.structured["calls_left"] == 9);
  CHECK(has(bench.call("run_tests", named_call(run, std::string(801, 'x'), "x")).text,
            "call_id of up to 800 bytes"));
  other.erase("run");
  CHECK(has(bench.call("run_tests", other).text, "`call_id` needs `run`"));
}

TEST_CASE("an id is free again if its job says nothing about its source") {
  ToolBench bench({}, {.jobs = {.refunds = 2}});
  const std::string run = bench.services.start(Track::iterative);
  const json call = named_call(run, "a", "# fake: error=device_unhealthy\n");
  const ToolResult first = bench.call("run_tests", call);
  CHECK(bench.call("run_tests", call).structured["job"] != first.structured["job"]);
  // Repeats do not go around the limit of calls that are not charged.
  CHECK(has(bench.call("run_tests", call).text, "permission_denied"));
}

TEST_CASE("a repeated call gets the job that a later server runs again") {
  ToolBench bench;
  const std::string run = bench.services.start(Track::iterative);
  std::vector<NewJob> one;
  one.push_back({bench.services.job("# fake: sleep_ms=300\n"), run, "", "a"});
  const auto first = bench.services->jobs().submit_all({}, one).front();
  REQUIRE(first);
  bench.services.wait_until_running(*first);
  bench.services.close();
  bench.services.open();
  const auto again = bench.services->jobs().submit_all({}, one).front();
  CHECK(again.value() == *first);
  REQUIRE(bench.services->jobs().recover());
  CHECK(bench.services.end_of(*first).verdict->outcome == sandbox::Outcome::pass);
  CHECK(bench.services->jobs().submit_all({}, one).front().value() == *first);
}

TEST_CASE("a disconnect does not cancel a call that its client can repeat") {
  ToolBench bench;
  const std::string run = bench.services.start(Track::iterative);
  bench.stop.request_stop();
  const json call = named_call(run, "a", "# fake: sleep_ms=300\n");
  const std::string job = bench.call("run_tests", call).structured["job"];
  CHECK(bench.services.end_of(job).verdict->outcome == sandbox::Outcome::pass);
}

TEST_CASE("a repeated start of a run with the same id gets the same run, until the run is over") {
  testing::ServicesFixture services;
  RunRequest request{.agent = "me", .model = "m", .track = Track::iterative, .call_id = "a"};
  const auto start = [&](const std::string& client) {
    return services->runs().start({.name = client}, request).value().handle;
  };
  const std::string run = start("ann");
  CHECK(start("ann") == run);
  services.close();
  services.open();
  CHECK(start("ann") == run);
  CHECK(start("ben") != run);
  request.model = "other";
  CHECK(has(services->runs().start({.name = "ann"}, request).error().message,
            "the id 'a' belongs to a run with another agent"));
  request.model = "m";
  services.clock.advance_ms(1'000 * kDayS);
  const std::string later = start("ann");
  CHECK(later != run);
  CHECK(start("ann") == later);
  request.call_id.clear();
  CHECK(start("ann") != start("ann"));
}

TEST_CASE("start_run takes an id") {
  ToolBench bench;
  const json call = {{"agent", "me"}, {"model", "m"}, {"call_id", "a"}};
  CHECK(bench.call("start_run", call).structured["run"] ==
        bench.call("start_run", call).structured["run"]);
}

}  // namespace assay::tools
