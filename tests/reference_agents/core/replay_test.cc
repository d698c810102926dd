// Tests replays of transcripts without a model. If all steps of the replay equal the recorded
// steps, the replay must have the same result as the recorded attempt. If a step differs, the
// replay must report the difference.
#include "reference_agents/core/replay.h"

#include <filesystem>
#include <fstream>
#include <string>

#include "base/handle.h"
#include "reference_agents/registry/agents.h"
#include "tests/catch.h"
#include "tests/reference_agents/core/fakes.h"

using namespace assay;
using namespace assay::agents;
using namespace assay::agents::testing;

namespace {

constexpr const char* kLabel = "replay of m (no model)";

mcp::ToolResult verdict(const std::string& outcome, const std::string& kind) {
  return {false, outcome, {{"outcome", outcome}, {"error_kind", kind}, {"tier", "interpreter"}}};
}

/// Returns a server that answers the calls of `run_tests` with `tests`, in this order.
FakeServer server_with_tests(const std::vector<mcp::ToolResult>& tests) {
  FakeServer server;
  server.answers["fetch_spec"] = {{false, "f(x)", {{"entry", "f"}}}};
  server.answers["report_usage"] = {{false, "ok", json::object()}};
  server.answers["compile"] = {verdict("pass", "none")};
  server.answers["run_tests"] = tests;
  server.answers["submit"] = {tests.back()};
  return server;
}

struct Scratch {
  std::filesystem::path dir = std::filesystem::temp_directory_path() / new_handle("replay_test");
  SystemClock clock;
  ~Scratch() { std::filesystem::remove_all(dir); }

  Result<Attempt> attempt(FakeServer& server, LlmClient& model, const char* file) {
    const Result<AgentChoice> choice = parse_agent("alphaevolve?attempts=3");
    Result<Transcript> transcript = Transcript::open(dir / file, clock);
    REQUIRE(transcript);
    MeteredClient metered(model, std::nullopt, Spending{});
    return attempt_operator(*choice, server, metered, *transcript,
                            {.run = std::string("run_") + file,
                             .operator_name = "f",
                             .data_dir = std::string(ASSAY_SOURCE_DIR) + "/reference_agents",
                             .step = {}});
  }

  /// Records an attempt with two versions. The first is wrong, the second is right.
  void record() {
    FakeServer server =
        server_with_tests({verdict("fail", "wrong_result"), verdict("pass", "none")});
    Versions model;
    const Result<Attempt> ended = attempt(server, model, "recorded.jsonl");
    REQUIRE(ended);
    REQUIRE(ended->replies == 2);
  }

  class Versions final : public LlmClient {
   public:
    Result<CompletionReply> complete(const CompletionRequest& request) override {
      return CompletionReply{
          "```python\ndef f(x):\n    return " + std::to_string(request.turn) + "\n```\n", "stop",
          10, 1, true};
    }
    std::string label() const override { return "fake:model"; }
    bool is_model() const override { return true; }
  };
};

}  // namespace

TEST_CASE("the same verdicts: the same steps, the same end, no model") {
  Scratch scratch;
  scratch.record();
  FakeServer server = server_with_tests({verdict("fail", "wrong_result"), verdict("pass", "none")});
  Result<RecordedReplies> replies =
      RecordedReplies::load(scratch.dir / "recorded.jsonl", scratch.dir / "replayed.jsonl", kLabel);
  REQUIRE(replies);
  CHECK_FALSE(replies->is_model());
  const Result<Attempt> ended = scratch.attempt(server, *replies, "replayed.jsonl");
  REQUIRE(ended);
  CHECK(ended->outcome == "pass");
  CHECK(ended->replies == 2);
  CHECK_FALSE(replies->refused());
  CHECK(*replies->deviation() == "");
}

TEST_CASE("a verdict that differs and leads elsewhere") {
  Scratch scratch;
  scratch.record();
  SECTION("to an earlier end") {
    FakeServer server = server_with_tests({verdict("pass", "none")});
    Result<RecordedReplies> replies = RecordedReplies::load(scratch.dir / "recorded.jsonl",
                                                            scratch.dir / "replayed.jsonl", kLabel);
    REQUIRE(scratch.attempt(server, *replies, "replayed.jsonl"));
    CHECK(replies->deviation()->find(
              "run_tests ended in fail (wrong_result) there and in pass here") !=
          std::string::npos);
  }
  SECTION("to a request without a recorded reply") {
    FakeServer server =
        server_with_tests({verdict("fail", "wrong_result"), verdict("fail", "wrong_result")});
    Result<RecordedReplies> replies = RecordedReplies::load(scratch.dir / "recorded.jsonl",
                                                            scratch.dir / "replayed.jsonl", kLabel);
    CHECK_FALSE(scratch.attempt(server, *replies, "replayed.jsonl"));
    CHECK(replies->refused());
    CHECK(replies->deviation()->find("before request 3") != std::string::npos);
    CHECK(server.count("submit") == 0);
  }
  SECTION("to a request after different steps") {
    FakeServer server = server_with_tests({verdict("error", "timeout"), verdict("pass", "none")});
    Result<RecordedReplies> replies = RecordedReplies::load(scratch.dir / "recorded.jsonl",
                                                            scratch.dir / "replayed.jsonl", kLabel);
    CHECK_FALSE(scratch.attempt(server, *replies, "replayed.jsonl"));
    CHECK(replies->deviation()->find("before request 2") != std::string::npos);
    CHECK(replies->deviation()->find("error (timeout) here") != std::string::npos);
  }
}

TEST_CASE("a transcript that is missing, cut short or broken") {
  Scratch scratch;
  FakeServer server = server_with_tests({verdict("pass", "none")});
  Result<RecordedReplies> none =
      RecordedReplies::load(scratch.dir / "nowhere.jsonl", scratch.dir / "replayed.jsonl", kLabel);
  REQUIRE(none);
  CHECK_FALSE(scratch.attempt(server, *none, "replayed.jsonl"));
  CHECK(none->refused());
  scratch.record();
  { std::ofstream(scratch.dir / "recorded.jsonl", std::ios::app) << R"({"kind":"torn)"; }
  const Result<std::vector<Step>> torn = read_steps(scratch.dir / "recorded.jsonl");
  REQUIRE(torn);
  // The steps are fetch_spec, then twice (reply, compile, run_tests), then submit.
  CHECK(torn->size() == 8);
  { std::ofstream(scratch.dir / "recorded.jsonl", std::ios::app) << "\n"; }
  CHECK(read_steps(scratch.dir / "recorded.jsonl").error().code == ErrorCode::corrupt);
}

TEST_CASE("a repeated call counts as one step") {
  Scratch scratch;
  std::filesystem::create_directories(scratch.dir);
  std::ofstream(scratch.dir / "t.jsonl") << R"({"kind":"prompt"}
{"kind":"prompt"}
{"kind":"reply","text":"a"}
{"kind":"tool_call","tool":"report_usage","arguments":{}}
{"kind":"tool_result","tool":"report_usage","is_error":false,"structured":{}}
{"kind":"tool_call","tool":"compile","arguments":{"code":"x"}}
{"kind":"tool_call","tool":"compile","arguments":{"code":"x"}}
{"kind":"tool_result","tool":"compile","is_error":false,"structured":{"status":"running","job":"j"}}
{"kind":"tool_call","tool":"job","arguments":{"job":"j"}}
{"kind":"tool_result","tool":"job","is_error":false,"structured":{"result":{"outcome":"error","error_kind":"aborted"}}}
{"kind":"tool_call","tool":"compile","arguments":{"code":"x"}}
{"kind":"tool_result","tool":"compile","is_error":false,"structured":{"outcome":"pass","error_kind":"none"}}
)";
  const Result<std::vector<Step>> steps = read_steps(scratch.dir / "t.jsonl");
  REQUIRE(steps);
  REQUIRE(steps->size() == 2);
  CHECK((*steps)[0].reply.text == "a");
  CHECK((*steps)[1].verdict == "pass");
}

TEST_CASE("the content of a call that names an earlier job is the job's code with the edits") {
  Scratch scratch;
  std::filesystem::create_directories(scratch.dir);
  std::ofstream(scratch.dir / "t.jsonl") << R"({"kind":"reply","text":"a"}
{"kind":"tool_call","tool":"compile","arguments":{"code":"x = 1\n"}}
{"kind":"tool_result","tool":"compile","is_error":false,"structured":{"outcome":"pass","job":"j1"}}
{"kind":"tool_call","tool":"run_tests","arguments":{"source":"j1"}}
{"kind":"tool_result","tool":"run_tests","is_error":true,"structured":{"error":{"code":"not_found"}}}
{"kind":"tool_call","tool":"run_tests","arguments":{"code":"x = 1\n"}}
{"kind":"tool_result","tool":"run_tests","is_error":false,"structured":{"outcome":"pass","job":"j2"}}
{"kind":"tool_call","tool":"submit","arguments":{"source":"j2","edits":"<<<<<<< SEARCH\nx = 1\n=======\nx = 2\n>>>>>>> REPLACE\n"}}
{"kind":"tool_result","tool":"submit","is_error":false,"structured":{"outcome":"pass","job":"j3"}}
)";
  const Result<std::vector<Step>> steps = read_steps(scratch.dir / "t.jsonl");
  REQUIRE(steps);
  REQUIRE(steps->size() == 4);  // the repeated call of run_tests counts once
  CHECK((*steps)[1].content == "x = 1\n");
  CHECK((*steps)[2].content == "x = 1\n");
  CHECK((*steps)[2].verdict == "pass");
  CHECK((*steps)[3].content == "x = 2\n");
}

TEST_CASE("a refused prompt is refused in the replay too, which is no deviation") {
  Scratch scratch;
  FakeModel refusing;
  refusing.error = {ErrorCode::invalid_argument, "HTTP 400: filtered"};
  FakeServer server = server_with_tests({verdict("pass", "none")});
  REQUIRE(scratch.attempt(server, refusing, "recorded.jsonl")->error_kind == kPromptRefused);
  Result<RecordedReplies> replies =
      RecordedReplies::load(scratch.dir / "recorded.jsonl", scratch.dir / "replayed.jsonl", kLabel);
  REQUIRE(replies);
  const Result<Attempt> ended = scratch.attempt(server, *replies, "replayed.jsonl");
  REQUIRE(ended);
  CHECK(ended->error_kind == kPromptRefused);
  CHECK(ended->explanation == "HTTP 400: filtered");
  CHECK(replies->deviation()->empty());
}
