// Tests that runs, jobs and artifacts belong to the principal that made them. For any other
// principal, a handle must look exactly like a handle that does not exist, and a call with such a
// handle must change nothing.
#include "tests/server/runs/tool_bench.h"
#include "tools/call/principal_of.h"
#include "tools/model/principal.h"
#include "tools/resources/resources.h"

namespace assay::tools {
namespace {

using mcp::Caller;
using mcp::ToolResult;
using nlohmann::json;
using testing::has;
using testing::ToolBench;

const Principal kAlice{.name = "alice"};
const Principal kBob{.name = "bob"};
const Principal kAliceWithoutScope{.name = "alice", .may_score = false};
const auto kAliceCaller =
    std::make_shared<const Caller>(Caller{"alice", {kScopePractice, kScopeScore}});
const auto kBobCaller =
    std::make_shared<const Caller>(Caller{"bob", {kScopePractice, kScopeScore}});

/// The handles of a scored run of bob, of a finished job of this run, and of the job's artifact.
struct Handles {
  std::string run, job, artifact;
};

Handles made_by_bob(ToolBench& bench) {
  bench.caller = kBobCaller;
  Handles made;
  made.run =
      bench
          .call("start_run",
                {{"agent", "bob"}, {"model", "m"}, {"track", "iterative"}, {"suite", "vector_add"}})
          .structured["run"];
  const ToolResult compiled = bench.grade("compile", "# fake: pass\n", made.run);
  made.job = compiled.structured["job"];
  made.artifact = compiled.structured["artifacts"][0]["artifact"];
  return made;
}

std::vector<std::pair<std::string, json>> calls_with(const Handles& handles) {
  const json kernel = {
      {"operator", "vector_add"}, {"code", "# fake: pass\n"}, {"run", handles.run}};
  return {{"compile", kernel},
          {"run_tests", kernel},
          {"profile", kernel},
          {"submit", kernel},
          {"scorecard", {{"run", handles.run}}},
          {"report_usage", {{"run", handles.run}, {"input_tokens", 1 << 30}, {"output_tokens", 1}}},
          {"job", {{"job", handles.job}}},
          {"job", {{"job", handles.job}, {"cancel", true}}},
          {"compile", {{"operator", "row_sum"}, {"source", handles.job}}},
          {"read_artifact", {{"artifact", handles.artifact}}},
          {"read_artifact", {{"artifact", handles.artifact}, {"grep", "x"}}}};
}

}  // namespace

TEST_CASE("the principal of a request has the name and the scope of its token") {
  mcp::RequestContext context;
  CHECK(principal_of(context).name.empty());
  CHECK(principal_of(context).may_score);
  context.caller = kBobCaller;
  CHECK(principal_of(context).name == "bob");
  CHECK(principal_of(context).may_score);
  context.caller = std::make_shared<const Caller>(Caller{"carol", {kScopePractice}});
  CHECK_FALSE(principal_of(context).may_score);
}

TEST_CASE("a handle of another principal gets the answer of a handle that does not exist") {
  ToolBench bench;
  const Handles bobs = made_by_bob(bench);
  const std::string card = bench.call("scorecard", {{"run", bobs.run}}).text;
  const auto foreign = calls_with(bobs);
  const auto unknown = calls_with({new_handle("run"), new_handle("job"), new_handle("artifact")});
  bench.caller = kAliceCaller;
  for (std::size_t i = 0; i < foreign.size(); ++i) {
    INFO(foreign[i].first << " " << foreign[i].second.dump());
    const ToolResult answer = bench.call(foreign[i].first, foreign[i].second);
    const ToolResult expected = bench.call(unknown[i].first, unknown[i].second);
    CHECK(answer.is_error);
    CHECK(answer.structured["error"]["code"] == "not_found");
    CHECK(answer.text == expected.text);
    CHECK(answer.structured == expected.structured);
  }
  bench.caller = nullptr;  // the principal of a server without tokens is another one too
  CHECK(bench.call("scorecard", {{"run", bobs.run}}).is_error);
  bench.caller = kBobCaller;
  CHECK(bench.call("scorecard", {{"run", bobs.run}}).text == card);  // nothing was charged or added
  for (const auto& [tool, arguments] : foreign) {
    INFO(tool);
    CHECK_FALSE(bench.call(tool, arguments).is_error);
  }
}

TEST_CASE("a resource of another principal gets the answer of one that does not exist") {
  ToolBench bench;
  const Handles bobs = made_by_bob(bench);
  const Services services = bench.services.tool_services();
  const ResourceList resources = make_resources(services, {});
  const auto read = [&](const std::string& uri_template, const mcp::Variables& variables,
                        const std::shared_ptr<const Caller>& caller) -> Result<std::string> {
    for (const mcp::ResourceTemplate& one : resources.templates) {
      if (one.uri_template != uri_template) continue;
      mcp::RequestContext context;
      context.caller = caller;
      const auto result = one.read(uri_template, variables, context);
      if (!result) return fail(result.error());
      return result->contents.front().bytes;
    }
    throw std::runtime_error("no template " + uri_template);
  };
  for (const auto& [uri_template, variable, handle, unknown] :
       {std::tuple("run://{run}/scorecard", "run", bobs.run, new_handle("run")),
        std::tuple("artifact://{id}", "id", bobs.artifact, new_handle("artifact"))}) {
    INFO(uri_template);
    CHECK(read(uri_template, {{variable, handle}}, kBobCaller));
    const auto refused = read(uri_template, {{variable, handle}}, kAliceCaller);
    const auto expected = read(uri_template, {{variable, unknown}}, kAliceCaller);
    REQUIRE_FALSE(refused);
    CHECK(refused.error().code == ErrorCode::not_found);
    CHECK(refused.error().message == expected.error().message);
  }
}

TEST_CASE("a running or queued job of another principal cannot be seen or cancelled") {
  testing::ServicesFixture services({}, 1);
  const auto send = [&](const std::string& source) {
    return *services->jobs().submit(kBob, services.job(source), "", "");
  };
  const std::string running = send("# fake: sleep_ms=60000\n");
  services.wait_until_running(running);
  const std::string queued = send("# fake: pass\n");
  const Error unknown = services->jobs().wait(kAlice, new_handle("job"), 0, nullptr).error();
  for (const std::string& job : {running, queued}) {
    CHECK(services->jobs().wait(kAlice, job, 0, nullptr).error().message == unknown.message);
    CHECK(services->jobs().cancel(kAlice, job).error().message == unknown.message);
  }
  CHECK(services->jobs().wait(kBob, running, 0, nullptr)->state == JobState::running);
  CHECK(services->jobs().wait(kBob, queued, 0, nullptr)->state == JobState::queued);
  for (const std::string& job : {queued, running}) CHECK(services->jobs().cancel(kBob, job));
}

TEST_CASE("a job that an earlier process left unfinished keeps its owner") {
  testing::ServicesFixture services({}, 1);
  const std::string job =
      *services->jobs().submit(kBob, services.job("# fake: sleep_ms=60000\n"), "", "");
  services.wait_until_running(job);
  services.close();
  services.open();
  REQUIRE(services->jobs().recover()->requeued == 1);
  CHECK_FALSE(services->jobs().wait(kAlice, job, 0, nullptr));
  CHECK(services->jobs().wait(kBob, job, 0, nullptr));
  CHECK(services->jobs().cancel(kBob, job));
}

TEST_CASE("a principal without the scope can read a scored run of its own, but not change it") {
  testing::ServicesFixture services({}, 1);
  const RunRequest request = {.agent = "a", .model = "m", .track = Track::iterative};
  CHECK(services->runs().start(kAliceWithoutScope, request).error().code ==
        ErrorCode::permission_denied);
  const std::string run = services->runs().start(kAlice, request)->handle;
  const std::string job =
      *services->jobs().submit(kAlice, services.job("# fake: sleep_ms=60000\n"), run, "");
  for (const auto kind : {sandbox::JobKind::compile, sandbox::JobKind::test,
                          sandbox::JobKind::profile, sandbox::JobKind::grade}) {
    const auto refused =
        services->jobs().submit(kAliceWithoutScope, services.job("x", kind), run, "");
    REQUIRE_FALSE(refused);
    CHECK(refused.error().code == ErrorCode::permission_denied);
    CHECK(has(refused.error().message, "scope 'score'"));
  }
  CHECK(services->runs().report_usage(kAliceWithoutScope, run, {}).error().code ==
        ErrorCode::permission_denied);
  CHECK(services->jobs().cancel(kAliceWithoutScope, job).error().code ==
        ErrorCode::permission_denied);
  const auto card = services->runs().scorecard(kAliceWithoutScope, run);
  REQUIRE(card);
  CHECK(card->operators.front().tool_calls + card->operators.back().tool_calls == 1);
  CHECK(services->jobs().wait(kAliceWithoutScope, job, 0, nullptr));
  CHECK(services->jobs().cancel(kAlice, job));
}

TEST_CASE("a practice run needs no scope, and the operator's reports show every run") {
  testing::ServicesFixture services({}, 1);
  const auto run = services->runs().start(kAliceWithoutScope, {.agent = "a", .model = "m"});
  REQUIRE(run);
  CHECK(services->runs().report_usage(kAliceWithoutScope, run->handle, {}));
  CHECK(
      services->jobs().submit(kAliceWithoutScope, services.job("# fake: pass\n"), run->handle, ""));
  CHECK(services->runs().scorecard_for_operator(run->handle)->run.handle == run->handle);
}

}  // namespace assay::tools
