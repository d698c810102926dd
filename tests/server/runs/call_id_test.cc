// Tests that a client can repeat a charged call whose answer it did not get.
#include <set>
#include <string>
#include <thread>
#include <vector>

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

TEST_CASE("a repeated call needs no place in the queue and no open run") {
  testing::ServicesFixture services({.queued_per_device = {.total = 1, .per_principal = 1}}, 1);
  const std::string run = services.start(Track::iterative);
  const auto call = [&](const std::string& source, const std::string& id) {
    std::vector<NewJob> one;
    one.push_back({services.job(source), run, "", id});
    return services->jobs().submit_all({}, std::move(one)).front();
  };
  const std::string slow = "# fake: sleep_ms=20001\n";
  const Result<std::string> running = call(slow, "a");
  REQUIRE(running);
  services.wait_until_running(*running);
  const Result<std::string> waiting = call(slow, "b");
  REQUIRE(waiting);
  CHECK(call(slow, "c").error().code == ErrorCode::resource_exhausted);
  CHECK(call(slow, "a").value() == *running);
  CHECK(call(slow, "b").value() == *waiting);
  services.clock.advance_ms(1'000 * kDayS);
  CHECK(call(slow, "a").value() == *running);
  CHECK_FALSE(call(slow, "d"));
}

TEST_CASE("calls that are repeated at the same time get one job that all of them find") {
  testing::ServicesFixture services;
  const std::string run = services.start(Track::iterative);
  constexpr int kRounds = 20, kClients = 4;
  for (int round = 0; round < kRounds; ++round) {
    std::vector<std::string> found(kClients);
    std::vector<std::jthread> clients;
    for (int client = 0; client < kClients; ++client) {
      clients.emplace_back([&, client] {
        std::vector<NewJob> one;
        one.push_back({services.job("# fake: fail\n", sandbox::JobKind::compile), run, "",
                       "call" + std::to_string(round)});
        const auto job = services->jobs().submit_all({}, std::move(one)).front();
        if (job && services->jobs().wait({}, *job, 0, nullptr)) found[client] = *job;
      });
    }
    clients.clear();
    CHECK(std::set<std::string>(found.begin(), found.end()).size() == 1);
    CHECK_FALSE(found.front().empty());
  }
  CHECK(services->runs().scorecard({}, run)->run.handle == run);
}

TEST_CASE("a repeated start of a run is no new start for the limit of starts") {
  testing::ServicesFixture services;
  const RunRequest request{.agent = "me", .model = "m", .track = Track::practice, .call_id = "a"};
  const auto start = [&] { return services->runs().start({.name = "ann"}, request); };
  const Result<RunInfo> first = start();
  REQUIRE(first);
  RunRequest other = request;
  other.call_id.clear();
  while (services->runs().start({.name = "ann"}, other)) {
  }
  CHECK(start().value().handle == first->handle);
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
