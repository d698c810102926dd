// Tests that a call can name the source of an earlier call, with the real services and the store.
#include <string>

#include "tests/server/runs/tool_bench.h"

namespace assay::tools {
namespace {

using mcp::Caller;
using mcp::ToolResult;
using nlohmann::json;
using testing::has;
using testing::ToolBench;

const auto kAnn = std::make_shared<const Caller>(Caller{"ann", {kScopePractice, kScopeScore}});
const auto kBen = std::make_shared<const Caller>(Caller{"ben", {kScopePractice, kScopeScore}});
const std::string kRepair =
    "<<<<<<< SEARCH\n# fake: fail\n=======\n# fake: pass\n>>>>>>> REPLACE\n";

const std::vector<std::string> kJudgingTools = {"compile", "run_tests", "profile", "submit"};

}  // namespace

TEST_CASE("each tool takes the source of an earlier call, with and without edits") {
  ToolBench bench;
  for (const std::string& tool : kJudgingTools) {
    INFO(tool);
    json next = {{"operator", "vector_add"}};
    if (tool == "submit") next["run"] = bench.services.start(Track::practice);
    const ToolResult wrong = bench.grade("run_tests", "# fake: fail\n");
    CHECK(wrong.structured["outcome"] == "fail");
    next["source"] = wrong.structured["job"];
    CHECK(has(wrong.text, next["source"].get<std::string>()));  // a model sees the handle
    next["edits"] = kRepair;
    const ToolResult right = bench.call(tool, next);
    CHECK(right.structured["outcome"] == "pass");
    next.erase("edits");
    next["source"] = right.structured["job"];
    CHECK(bench.call(tool, next).structured["outcome"] == "pass");
    // The earlier job keeps its own source.
    CHECK(bench.call("run_tests", {{"operator", "vector_add"}, {"source", wrong.structured["job"]}})
              .structured["outcome"] == "fail");
  }
}

TEST_CASE("a call whose edits do not fit charges nothing, and the source stays") {
  ToolBench bench;
  const std::string run = bench.services.start(Track::iterative);
  json next = {{"operator", "vector_add"}, {"run", run}};
  const ToolResult wrong = bench.grade("run_tests", "# fake: fail\n", run);
  CHECK(wrong.structured["calls_left"] == 9);
  next["source"] = wrong.structured["job"];
  next["edits"] = "<<<<<<< SEARCH\n# fake: wrong\n=======\n# fake: pass\n>>>>>>> REPLACE\n";
  const ToolResult refused = bench.call("run_tests", next);
  CHECK(refused.is_error);
  CHECK(has(refused.text, "edit 1 matches nothing: no line is '# fake: wrong'"));
  next["edits"] = kRepair;
  const ToolResult right = bench.call("run_tests", next);
  CHECK(right.structured["outcome"] == "pass");
  CHECK(right.structured["calls_left"] == 8);
}

TEST_CASE("the source of another principal is unknown to every tool") {
  ToolBench bench;
  bench.caller = kBen;
  const std::string job = bench.grade("run_tests", "# fake: pass\n").structured["job"];
  for (const std::string& tool : kJudgingTools) {
    INFO(tool);
    const auto answer = [&](const std::string& handle) {
      bench.caller = kAnn;
      json arguments = {{"operator", "vector_add"}, {"source", handle}};
      // The handle is looked up before the run.
      if (tool == "submit") arguments["run"] = new_handle("run");
      return bench.call(tool, arguments);
    };
    const ToolResult stolen = answer(job), unknown = answer(new_handle("job"));
    CHECK(stolen.is_error);
    CHECK(stolen.structured["error"]["code"] == "not_found");
    CHECK(stolen.text == unknown.text);
    CHECK(stolen.structured == unknown.structured);
    CHECK(answer("job_x").structured["error"]["code"] == "invalid_argument");
  }
  bench.caller = nullptr;  // the principal of a server without tokens is another one too
  CHECK(bench.call("run_tests", {{"operator", "vector_add"}, {"source", job}}).is_error);
  bench.caller = kBen;
  CHECK_FALSE(bench.call("run_tests", {{"operator", "vector_add"}, {"source", job}}).is_error);
}

TEST_CASE("a source of another run or operator of the same principal is taken") {
  ToolBench bench;
  bench.caller = kBen;
  const auto start = [&](const char* track) {
    return bench
        .call("start_run", {{"agent", "a"}, {"model", "m"}, {"track", track}, {"suite", "all"}})
        .structured["run"]
        .get<std::string>();
  };
  const std::string first = start("iterative"), second = start("one_shot");
  const json job = bench.grade("submit", "# fake: pass\n", first).structured["job"];
  const json row_sum = {{"operator", "row_sum"}, {"source", job}, {"run", second}};
  CHECK(bench.call("submit", row_sum).structured["outcome"] == "pass");
}

TEST_CASE("one_shot locks the source, also if a handle and edits name it") {
  ToolBench bench;
  const std::string run = bench.services.start(Track::one_shot);
  const ToolResult first = bench.grade("run_tests", "# fake: pass\n", run);
  json next = {{"operator", "vector_add"}, {"run", run}, {"source", first.structured["job"]}};
  // Practice costs nothing, so an agent can always try another source there.
  json other = next;
  other.erase("run");
  other["edits"] = "<<<<<<< SEARCH\n# fake: pass\n=======\n# fake: pass\n#\n>>>>>>> REPLACE\n";
  CHECK(bench.call("run_tests", other).structured["outcome"] == "pass");
  other["run"] = run;
  const ToolResult locked = bench.call("submit", other);
  CHECK(locked.is_error);
  CHECK(has(locked.text, "the one_shot track takes one source per operator"));
  CHECK(bench.call("submit", next).structured["outcome"] == "pass");
}

TEST_CASE("a token without the scope score may try a source of a scored run, and not submit it") {
  ToolBench bench;
  bench.caller = kAnn;
  const std::string run =
      bench
          .call("start_run",
                {{"agent", "a"}, {"model", "m"}, {"track", "iterative"}, {"suite", "all"}})
          .structured["run"];
  const json job = bench.grade("submit", "# fake: pass\n", run).structured["job"];
  bench.caller = std::make_shared<const Caller>(Caller{"ann", {kScopePractice}});
  json next = {{"operator", "row_sum"}, {"source", job}};
  CHECK_FALSE(bench.call("run_tests", next).is_error);
  next["run"] = run;
  const ToolResult refused = bench.call("submit", next);
  CHECK(refused.structured["error"]["code"] == "permission_denied");
}

TEST_CASE("the source of a job that was cancelled can be sent again") {
  ToolBench bench({.answer_within_ms = 0});
  const json job = bench.grade("run_tests", "# fake: sleep_ms=60000\n").structured["job"];
  CHECK(bench.call("job", {{"job", job}, {"cancel", true}}).structured["state"] == "cancelled");
  const ToolResult again = bench.call(
      "run_tests",
      {{"operator", "vector_add"},
       {"source", job},
       {"edits",
        "<<<<<<< SEARCH\n# fake: sleep_ms=60000\n=======\n# fake: pass\n>>>>>>> REPLACE\n"}});
  const ToolResult ended = bench.call("job", {{"job", again.structured["job"]}, {"wait_s", 20}});
  CHECK(ended.structured["outcome"] == "pass");
}

}  // namespace assay::tools
