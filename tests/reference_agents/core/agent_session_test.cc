#include "reference_agents/core/agent_session.h"

#include <filesystem>
#include <string>

#include "base/handle.h"
#include "reference_agents/core/tool_session.h"
#include "tests/catch.h"
#include "tests/reference_agents/core/fakes.h"

using namespace assay;
using namespace assay::agents;

TEST_CASE("places are filled once, and places inside of values stay") {
  CHECK(*fill_places("{{a}}-{{b}}-{{a}}", {{"a", "{{b}}"}, {"b", "2"}}) == "{{b}}-2-{{b}}");
  CHECK(fill_places("{{a}}", {}).error().message.find("{{a}}") != std::string::npos);
  CHECK(fill_places("a", {{"a", "1"}}).error().message.find("{{a}}") != std::string::npos);
  CHECK_FALSE(fill_places("{{a", {{"a", "1"}}));
  CHECK_FALSE(fill_prompt("/no/such/file.md", {}));
}

using namespace assay;
using namespace assay::agents;
using testing::FakeModel;
using testing::FakeServer;
using testing::json;

namespace {

mcp::ToolResult error_of(const std::string& code) {
  return {true,
          "error (" + code + "): why\nmore",
          {{"status", "error"}, {"error", {{"code", code}, {"message", "why"}}}}};
}

struct TranscriptFile {
  std::filesystem::path path =
      std::filesystem::temp_directory_path() / new_handle("tool_session_test") / "t.jsonl";
  SystemClock clock;
  ~TranscriptFile() { std::filesystem::remove_all(path.parent_path()); }
};

}  // namespace

TEST_CASE("a failure of the server is not an answer: a continued attempt repeats the call") {
  for (const char* code : {"io", "unavailable", "corrupt", "internal"}) {
    TranscriptFile transcript_file;
    FakeServer server;
    server.answers["submit"] = {error_of(code), {false, "pass", {{"outcome", "pass"}}}};
    {
      Result<Transcript> transcript = Transcript::open(transcript_file.path, transcript_file.clock);
      REQUIRE(transcript);
      const auto failed = ToolSession(server, *transcript).call("submit", {{"code", "x"}});
      REQUIRE_FALSE(failed);
      CHECK(failed.error().code == ErrorCode::unavailable);
      CHECK(failed.error().message ==
            std::string("the server failed at submit: error (") + code + "): why");
    }
    Result<Transcript> again = Transcript::open(transcript_file.path, transcript_file.clock);
    REQUIRE(again);
    const auto answer = ToolSession(server, *again).call("submit", {{"code", "x"}});
    REQUIRE(answer);
    CHECK(answer->text == "pass");
    CHECK(server.count("submit") == 2);
  }
}

TEST_CASE("a continued attempt repeats an unanswered report of usage under the same id") {
  TranscriptFile transcript_file;
  FakeServer server;
  const mcp::ToolResult ok{false, "ok", {{"status", "ok"}}};
  FakeModel model;
  MeteredClient metered(model, std::nullopt, Spending{});
  AttemptRequest request;
  request.run = "run_1";
  for (const bool answered : {false, true}) {
    server.answers["report_usage"] =
        answered ? std::vector<mcp::ToolResult>{ok} : std::vector<mcp::ToolResult>{};
    Result<Transcript> transcript = Transcript::open(transcript_file.path, transcript_file.clock);
    REQUIRE(transcript);
    CHECK(AgentSession(server, metered, *transcript, request).ask("s", "u").has_value() ==
          answered);
  }
  CHECK(model.prompts.size() == 1);
  REQUIRE(server.count("report_usage") == 2);
  const auto id = [&](std::size_t call) {
    return server.calls.at(call).second.at("call_id").get<std::string>();
  };
  CHECK(id(0) == id(1));
  CHECK_FALSE(id(0).empty());
}

TEST_CASE("a continued attempt repeats an unanswered call of a judging tool under the same id") {
  TranscriptFile transcript_file;
  FakeServer server;
  FakeModel model;
  MeteredClient metered(model, std::nullopt, Spending{});
  AttemptRequest request;
  request.run = "run_1";
  request.operator_name = "vector_add";
  for (const bool answered : {false, true}) {
    server.answers["compile"] = {{false, "pass", {{"outcome", "pass"}}}};
    server.answers["run_tests"] = {};
    if (answered) server.answers["run_tests"] = {{false, "fail", {{"outcome", "fail"}}}};
    Result<Transcript> transcript = Transcript::open(transcript_file.path, transcript_file.clock);
    REQUIRE(transcript);
    CHECK(AgentSession(server, metered, *transcript, request).evaluate("x").has_value() ==
          answered);
  }
  REQUIRE(server.count("compile") == 1);
  REQUIRE(server.count("run_tests") == 2);
  const auto id = [&](std::size_t call) {
    return server.calls.at(call).second.at("call_id").get<std::string>();
  };
  CHECK(id(1) == id(2));
  CHECK(id(0) != id(1));

  // Without its transcript, the attempt begins again, and its calls are new ones.
  std::filesystem::remove(transcript_file.path);
  Result<Transcript> transcript = Transcript::open(transcript_file.path, transcript_file.clock);
  REQUIRE(transcript);
  REQUIRE(AgentSession(server, metered, *transcript, request).evaluate("x"));
  CHECK(id(3) != id(0));
}

TEST_CASE("a transcript whose calls have no ids can be continued") {
  TranscriptFile transcript_file;
  FakeServer server;
  const json arguments = {{"run", "run_1"}, {"code", "x"}};
  {
    Result<Transcript> older = Transcript::open(transcript_file.path, transcript_file.clock);
    REQUIRE(older);
    REQUIRE(older->tool_call("run_tests", arguments));
    REQUIRE(older->tool_result("run_tests", false, "pass", json::object()));
  }
  Result<Transcript> transcript = Transcript::open(transcript_file.path, transcript_file.clock);
  REQUIRE(transcript);
  json now = arguments;
  now["call_id"] = "vector_add.1";
  CHECK(ToolSession(server, *transcript).call("run_tests", now)->text == "pass");
  CHECK(server.calls.empty());
}

TEST_CASE("a refusal is an answer, and stays one") {
  TranscriptFile transcript_file;
  FakeServer server;
  server.answers["submit"] = {error_of("permission_denied")};
  for (int part = 0; part < 2; ++part) {
    Result<Transcript> transcript = Transcript::open(transcript_file.path, transcript_file.clock);
    REQUIRE(transcript);
    const auto answer = ToolSession(server, *transcript).call("submit", {{"code", "x"}});
    REQUIRE(answer);
    CHECK(answer->is_error);
  }
  CHECK(server.count("submit") == 1);
}

TEST_CASE("a job is followed until its time is up on the session's clock") {
  TranscriptFile transcript_file;
  Result<Transcript> transcript = Transcript::open(transcript_file.path, transcript_file.clock);
  REQUIRE(transcript);
  FakeServer server;
  server.answers["submit"] = {{false, "queued", {{"state", "queued"}, {"job", "job_1"}}}};
  server.answers["job"] = {{false, "running", {{"state", "running"}, {"job", "job_1"}}}};
  ManualClock clock;
  server.on_call = [&clock] { clock.advance_ms(1'000); };
  const auto late = ToolSession(server, *transcript, clock).call_to_end("submit", json{}, 2'500);
  REQUIRE_FALSE(late);
  CHECK(late.error().code == ErrorCode::unavailable);
  CHECK(late.error().message == "submit: job job_1 was still running after 2 s");
  CHECK(server.count("job") == 2);
}
