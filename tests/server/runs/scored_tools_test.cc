// Calls the tools with a scored run. Tests the run's rules, its remaining budget and its scorecard.
#include "tests/server/runs/tool_bench.h"

namespace assay::tools {

using mcp::ToolResult;
using nlohmann::json;
using testing::has;
using testing::ToolBench;

TEST_CASE("one_shot through the tools: one source, and one call of each kind") {
  ToolBench bench;
  const ToolResult started =
      bench.call("start_run",
                 {{"agent", "me"}, {"model", "m"}, {"track", "one_shot"}, {"suite", "vector_add"}});
  const std::string run = started.structured["run"];
  CHECK(started.structured["operators"] == json({"vector_add"}));
  CHECK_FALSE(bench.grade("run_tests", "# fake: fail\n", run).is_error);
  const ToolResult second = bench.grade("run_tests", "# fake: fail\n", run);
  CHECK(second.is_error);
  CHECK(has(second.text, "permission_denied"));
  CHECK(has(bench.grade("submit", "# fake: pass\n", run).text, "one source per operator"));
  CHECK(bench.grade("submit", "# fake: fail\n", run).structured["outcome"] == "fail");
  const ToolResult card = bench.call("scorecard", {{"run", run}});
  CHECK(card.structured["submitted"] == 1);
  CHECK(card.structured["operators"][0]["error_kind"] == "wrong_result");
  CHECK(card.structured["operators"][0]["tool_calls"] == 2);
}

TEST_CASE("each answer says what is left of the budget, and whether the operator is submitted") {
  ToolBench bench;
  const std::string run = bench.services.start(Track::iterative);
  bench.grade("run_tests", "# fake: pass\n", run);
  const ToolResult second = bench.grade("run_tests", "# fake: fail\n", run);
  CHECK(has(second.text, " ms; run_tests 8 of 10 left\nnext: Compare"));
  CHECK(second.structured["calls_left"] == 8);
  const ToolResult later = bench.call("job", {{"job", second.structured["job"]}});
  CHECK(later.structured["calls_left"] == 8);
  CHECK(has(bench.grade("profile", "# fake: pass\n", run).text, "; profile 9 of 10 left\n"));
  CHECK_FALSE(has(bench.grade("run_tests", "# fake: pass\n").text, " left"));
  CHECK_FALSE(
      has(bench.grade("run_tests", "# fake: pass\n", bench.services.start(Track::practice)).text,
          " left"));

  CHECK_FALSE(bench.grade("submit", "# fake: pass\n", run).structured.contains("calls_left"));
  const ToolResult after = bench.grade("run_tests", "# fake: pass\n", run);
  CHECK(has(after.text, "run_tests 7 of 10 left\nnext: This operator is already submitted"));
  CHECK_FALSE(has(after.text, "grades it"));
}

TEST_CASE("start_run offers every track and states its budgets") {
  ToolBench bench;
  const ToolResult started =
      bench.call("start_run", {{"agent", "a"}, {"model", "m"}, {"track", "scaled"}});
  CHECK(started.structured["budgets"]["tests"] == 100);
  CHECK(started.text.find("valid for 168 h") != std::string::npos);
}

TEST_CASE(
    "a scorecard lists the operators that were worked on, and names the others if they are few") {
  ToolBench bench;
  const std::string run = bench.services.start(Track::iterative);
  bench.grade("run_tests", "# fake: pass\n", run);
  const ToolResult card = bench.call("scorecard", {{"run", run}});
  CHECK(has(card.text,
            "- vector_add: not submitted, 1 tool call\n- not submitted, 0 tool calls: row_sum\n"));
  CHECK(card.structured["operators"].size() == 2);
}

TEST_CASE("usage and scorecard add up") {
  ToolBench bench;
  const std::string run = bench.services.start(Track::iterative);
  bench.call("report_usage",
             {{"run", run}, {"input_tokens", 5}, {"output_tokens", 7}, {"cost_usd", 0.5}});
  CHECK(bench.call("scorecard", {{"run", run}}).structured["cost_usd"] == 0.5);
  const ToolResult without_cost =
      bench.call("report_usage", {{"run", run}, {"input_tokens", 5}, {"output_tokens", 7}});
  CHECK(without_cost.structured["input_tokens"] == 10);
  CHECK(without_cost.text.find("cost not known ($0.5 of it is)") != std::string::npos);
  CHECK_FALSE(without_cost.structured.contains("cost_usd"));
  CHECK_FALSE(bench.call("scorecard", {{"run", run}}).structured.contains("cost_usd"));
  bench.grade("submit", "# fake: perf=1.5\n", run);
  const ToolResult card = bench.call("scorecard", {{"run", run}});
  CHECK(card.text.starts_with("ok: Pass@1 50 %: 1 of 2 operators pass"));
  CHECK(card.structured["pass_at_1"] == 0.5);
  CHECK(card.structured["perf_at_1"] == 0.75);
  bench.call("submit", {{"operator", "row_sum"}, {"code", "# fake: pass\n"}, {"run", run}});
  const ToolResult half_timed = bench.call("scorecard", {{"run", run}});
  CHECK(half_timed.text.find("no Perf@1: 1 of 2 right submissions were not timed") !=
        std::string::npos);
  CHECK_FALSE(half_timed.structured.contains("perf_at_1"));
  CHECK(bench.call("scorecard", {{"run", "nope"}}).is_error);
  CHECK(bench.call("start_run", {{"agent", "a"}, {"model", "m"}, {"suite", "softmaxx"}}).is_error);
}

}  // namespace assay::tools
