// Tests that the scope that a call needs is known before the call, and that the call itself refuses
// the same calls.
#include "tools/call/missing_scope.h"

#include "tests/server/runs/tool_bench.h"
#include "tools/model/principal.h"

namespace assay::tools {
namespace {

using mcp::Caller;
using nlohmann::json;
using testing::ToolBench;

const Caller kMayPractise{"https://id.example carol", {kScopePractice}, "https://id.example"};
const Caller kMayScore{
    "https://id.example carol", {kScopePractice, kScopeScore}, "https://id.example"};

json run_arguments(const char* track) {
  return {{"agent", "a"}, {"model", "m"}, {"track", track}, {"suite", "vector_add"}};
}

json kernel_for(const std::string& run) {
  return {{"operator", "vector_add"}, {"code", "# fake: pass\n"}, {"run", run}};
}

std::string missing_for(const ToolBench& bench, const char* tool, const json& arguments,
                        const Caller& caller = kMayPractise) {
  const mcp::Tool& found = bench.tools().at(tool);
  return found.missing_scope ? found.missing_scope(arguments, caller) : "";
}

}  // namespace

TEST_CASE("missing scope: a scored track and everything that changes a scored run") {
  ToolBench bench;
  for (const char* track : {"one_shot", "iterative", "scaled"}) {
    CHECK(missing_for(bench, "start_run", run_arguments(track)) == "score");
    CHECK(missing_for(bench, "start_run", run_arguments(track), kMayScore).empty());
  }
  bench.caller = std::make_shared<const Caller>(kMayScore);
  const std::string run = bench.call("start_run", run_arguments("iterative")).structured["run"];
  const json usage = {{"run", run}, {"input_tokens", 1}, {"output_tokens", 1}};
  bench.caller = std::make_shared<const Caller>(kMayPractise);
  for (const auto& [tool, arguments] :
       std::vector<std::pair<const char*, json>>{{"compile", kernel_for(run)},
                                                 {"run_tests", kernel_for(run)},
                                                 {"profile", kernel_for(run)},
                                                 {"submit", kernel_for(run)},
                                                 {"report_usage", usage}}) {
    INFO(tool);
    CHECK(missing_for(bench, tool, arguments) == "score");
    CHECK(missing_for(bench, tool, arguments, kMayScore).empty());
    CHECK(bench.call(tool, arguments).structured["error"]["code"] == "permission_denied");
  }
  // Reading needs no scope.
  CHECK(missing_for(bench, "scorecard", {{"run", run}}).empty());
  CHECK_FALSE(bench.call("scorecard", {{"run", run}}).is_error);
}

TEST_CASE("missing scope: practice, foreign runs and malformed arguments need none") {
  ToolBench bench;
  CHECK(missing_for(bench, "start_run", run_arguments("practice")).empty());
  CHECK(missing_for(bench, "start_run", {{"agent", "a"}, {"model", "m"}}).empty());
  CHECK(missing_for(bench, "run_tests", {{"operator", "vector_add"}, {"code", "x"}}).empty());
  bench.caller = std::make_shared<const Caller>(kMayPractise);
  const std::string own = bench.call("start_run", run_arguments("practice")).structured["run"];
  CHECK(missing_for(bench, "submit", kernel_for(own)).empty());
  bench.caller = std::make_shared<const Caller>(Caller{"bob", {kScopeScore}});
  const std::string foreign = bench.call("start_run", run_arguments("iterative")).structured["run"];
  CHECK(missing_for(bench, "submit", kernel_for(foreign)).empty());  // it will not be found
  for (const json& value : {json(7), json(nullptr), json("run_x"), json::array()}) {
    CHECK(missing_for(bench, "submit", {{"run", value}}).empty());
    CHECK(missing_for(bench, "start_run", {{"track", value}}).empty());
    CHECK(missing_for(bench, "job", {{"job", value}, {"cancel", true}}).empty());
  }
}

TEST_CASE("missing scope: only a job that still runs can be cancelled") {
  ToolBench bench;
  bench.caller = std::make_shared<const Caller>(kMayScore);
  const std::string run = bench.call("start_run", run_arguments("iterative")).structured["run"];
  const std::string over = bench.grade("run_tests", "# fake: pass\n", run).structured["job"];
  CHECK(missing_for(bench, "job", {{"job", over}, {"cancel", true}}).empty());
  const auto slow = bench.services->jobs().submit(
      {.name = kMayScore.name}, bench.services.job("# fake: sleep_ms=60000\n"), run, "fake");
  if (!slow) FAIL(slow.error().message);
  CHECK(missing_for(bench, "job", {{"job", *slow}, {"cancel", true}}) == "score");
  CHECK(missing_for(bench, "job", {{"job", *slow}, {"cancel", false}}).empty());
  CHECK(missing_for(bench, "job", {{"job", *slow}}).empty());
  CHECK(bench.services->jobs().cancel({.name = kMayScore.name}, *slow));
}

}  // namespace assay::tools
