// Runs one_shot against a fake MCP client that answers like the server and remembers every call.
#include "reference_agents/one_shot/one_shot.h"

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <map>
#include <utility>

#include "base/handle.h"
#include "reference_agents/core/agent_session.h"
#include "reference_agents/core/attempt.h"
#include "reference_agents/registry/agents.h"
#include "tests/catch.h"
#include "tests/reference_agents/core/fakes.h"

using namespace assay;
using namespace assay::agents;
using namespace assay::agents::testing;
using nlohmann::json;

namespace {

struct Fixture {
  std::filesystem::path dir = std::filesystem::temp_directory_path() / new_handle("one_shot_test");
  FakeServer server;
  FakeModel model;
  SystemClock clock;

  Fixture() {
    server.answers["fetch_spec"] = {{false,
                                     "scale(x: Tensor) -> Tensor\nTwice x.",
                                     {{"entry", "scale"}, {"dialect", "triton"}}}};
    server.answers["report_usage"] = {{false, "ok", json::object()}};
    server.answers["compile"] = {{false, "compiled", {{"outcome", "pass"}}}};
    server.answers["run_tests"] = {{false, "SECRET-FEEDBACK", {{"outcome", "fail"}}}};
    server.answers["submit"] = {
        {false,
         "fail: wrong result\nmore",
         {{"outcome", "fail"},
          {"error_kind", "wrong_result"},
          {"stage", "judge"},
          {"hints",
           {{{"kind", "many_launches"}, {"case", "small"}, {"text", "launches 40 kernels"}}}}}}};
  }
  ~Fixture() { std::filesystem::remove_all(dir); }

  Result<Attempt> attempt(std::optional<double> limit = {}) {
    Result<Transcript> transcript = Transcript::open(dir / "scale.jsonl", clock);
    REQUIRE(transcript);
    MeteredClient metered(model, Price{10'000.0, 100'000.0, "s", "d"}, {limit, 0});
    return attempt_operator(*parse_agent("one_shot"), server, metered, *transcript,
                            {.run = "run_1",
                             .operator_name = "scale",
                             .max_tokens = 500,
                             .follow_ms = 60'000,
                             .step = {}});
  }
  std::vector<json> lines() const {
    std::ifstream stream(dir / "scale.jsonl");
    std::vector<json> all;
    for (std::string line; std::getline(stream, line);) all.push_back(json::parse(line));
    return all;
  }
};

}  // namespace

TEST_CASE("one spec, one prompt, one reply, one submission") {
  Fixture fixture;
  const Result<Attempt> attempt = fixture.attempt();
  REQUIRE(attempt);
  CHECK(attempt->outcome == "fail");
  CHECK(attempt->error_kind == "wrong_result");
  CHECK(attempt->stage == "judge");
  CHECK(attempt->explanation == "fail: wrong result");
  CHECK(attempt->hints == std::vector<AttemptHint>{{"many_launches", "launches 40 kernels"}});
  CHECK(attempt->input_tokens == 100);
  CHECK(attempt->cost_usd == Approx(3.0));
  CHECK(attempt->tool_calls == 5);
  std::vector<std::string> order;
  for (const auto& call : fixture.server.calls) order.push_back(call.first);
  CHECK(order ==
        std::vector<std::string>{"fetch_spec", "report_usage", "compile", "run_tests", "submit"});
  const auto judged = [&](const char* tool) {
    json arguments = fixture.server.arguments_of(tool);
    const std::string id = arguments["call_id"];
    arguments.erase("call_id");
    CHECK(arguments ==
          json{{"run", "run_1"}, {"operator", "scale"}, {"code", "def scale(x):\n    return x\n"}});
    return id;
  };
  const std::string compile = judged("compile"), submit = judged("submit");
  CHECK(compile == submit.substr(0, submit.find('.')) + ".1");
  CHECK(submit.substr(submit.find('.')) == ".3");
  json usage = fixture.server.arguments_of("report_usage");
  CHECK(usage["call_id"].get<std::string>().rfind("reply_", 0) == 0);
  usage.erase("call_id");
  CHECK(usage ==
        json{{"run", "run_1"}, {"input_tokens", 100}, {"output_tokens", 20}, {"cost_usd", 3.0}});
}

TEST_CASE("the model is asked once, and sees the spec and no feedback") {
  Fixture fixture;
  REQUIRE(fixture.attempt());
  REQUIRE(fixture.model.prompts.size() == 1);
  const CompletionRequest& prompt = fixture.model.prompts[0];
  REQUIRE(prompt.messages.size() == 1);
  CHECK(prompt.messages[0].text.find("Operator: scale\n\nscale(x: Tensor) -> Tensor\nTwice x.") ==
        0);
  CHECK(prompt.max_tokens == 500);
  CHECK((prompt.system + prompt.messages[0].text).find("SECRET-FEEDBACK") == std::string::npos);
}

TEST_CASE("the prompt adds nothing that depends on the operator") {
  const auto rest_of = [](const std::string& name, const std::string& text) {
    const CompletionRequest prompt = one_shot_prompt({name, name, "triton", text});
    std::string all = prompt.system + prompt.messages.at(0).text;
    const std::string given = "Operator: " + name + "\n\n" + text;
    const std::size_t at = all.find(given);
    REQUIRE(at != std::string::npos);
    return all.erase(at, given.size());
  };
  CHECK(rest_of("a", "spec of a\n") == rest_of("softmax_last_dim", "spec of softmax\n"));
}

TEST_CASE("a job handle is followed to its end") {
  Fixture fixture;
  fixture.server.answers["submit"] = {
      {false, "still running", {{"job", "job_7"}, {"state", "running"}}}};
  fixture.server.answers["job"] = {{false, "queued", {{"job", "job_7"}, {"state", "queued"}}},
                                   {false,
                                    "pass: all cases",
                                    {{"job", "job_7"},
                                     {"state", "finished"},
                                     {"verdict", {{"outcome", "pass"}, {"error_kind", "none"}}}}}};
  const Result<Attempt> attempt = fixture.attempt();
  REQUIRE(attempt);
  CHECK(attempt->outcome == "pass");
  CHECK(attempt->explanation == "pass: all cases");
  CHECK(fixture.server.count("job") == 2);
  CHECK(fixture.server.arguments_of("job")["job"] == "job_7");
}

TEST_CASE("a refused submission or a reply without code ends the attempt without an Error") {
  Fixture fixture;
  SECTION("refused") {
    fixture.server.answers["submit"] = {
        {true, "refused: this run has already submitted scale", nullptr}};
    fixture.server.answers["scorecard"] = {
        {false,
         "ok",
         {{"operators",
           json::array({{{"operator", "other"}, {"job", "job_1"}}, {{"operator", "scale"}}})}}}};
    const Result<Attempt> attempt = fixture.attempt();
    REQUIRE(attempt);
    CHECK(attempt->outcome == "refused");
    CHECK(attempt->explanation.find("already submitted") != std::string::npos);
  }
  SECTION(
      "refused, because an earlier part of the bench made the submission before it was killed") {
    fixture.server.answers["submit"] = {{true, "refused: 0 are left", nullptr}};
    fixture.server.answers["scorecard"] = {
        {false, "ok", {{"operators", json::array({{{"operator", "scale"}, {"job", "job_5"}}})}}}};
    fixture.server.answers["job"] = {{false, "pass", {{"outcome", "pass"}, {"state", "finished"}}}};
    const Result<Attempt> attempt = fixture.attempt();
    REQUIRE(attempt);
    CHECK(attempt->outcome == "pass");
    CHECK(fixture.server.arguments_of("job")["job"] == "job_5");
  }
  SECTION("no code") {
    fixture.model.reply = {"", "content_filter", 100, 0, true};
    const Result<Attempt> attempt = fixture.attempt();
    REQUIRE(attempt);
    CHECK(attempt->outcome == "no_code");
    CHECK(attempt->explanation.find("content_filter") != std::string::npos);
    CHECK(fixture.server.count("submit") == 0);
    CHECK(fixture.server.count("report_usage") == 1);  // the reply cost tokens
  }
}

TEST_CASE("a prompt that the endpoint always refuses ends the attempt, also when it continues") {
  Fixture fixture;
  fixture.model.error = {ErrorCode::invalid_argument, "HTTP 400: too long"};
  for (int again = 0; again < 2; ++again) {
    const Result<Attempt> attempt = fixture.attempt();
    REQUIRE(attempt);
    CHECK(attempt->outcome == "error");
    CHECK(attempt->error_kind == kPromptRefused);
    CHECK(attempt->explanation == "HTTP 400: too long");
    CHECK(attempt->replies == 0);
    CHECK(attempt->cost_known);
    CHECK(attempt->charged_usd == 0);
    CHECK(fixture.model.prompts.size() == kMostPromptRefusals);
  }
  CHECK(fixture.server.count("submit") == 0);
}

TEST_CASE("an attempt interrupted after the reply continues without asking the model again") {
  Fixture fixture;
  fixture.server.answers["submit"].clear();
  REQUIRE_FALSE(fixture.attempt());
  CHECK(fixture.model.prompts.size() == 1);
  {
    std::ofstream torn(fixture.dir / "scale.jsonl", std::ios::app);
    torn << R"({"kind":"tool_call","to)";  // as after kill -9 in the middle of a line
  }
  fixture.server.answers["submit"] = {{false, "pass", {{"outcome", "pass"}}}};
  const Result<Attempt> attempt = fixture.attempt();
  REQUIRE(attempt);
  CHECK(attempt->outcome == "pass");
  CHECK(attempt->cost_usd == Approx(3.0));
  CHECK(attempt->paid_before_usd == Approx(3.0));
  CHECK(fixture.model.prompts.size() == 1);
  CHECK(fixture.server.count("report_usage") == 1);
  for (const json& line : fixture.lines()) CHECK(line.contains("kind"));
}

TEST_CASE("an Error names its cause: the model, the limit or the server") {
  Fixture fixture;
  SECTION("model") {
    fixture.model.error = {ErrorCode::unavailable, "HTTP 503"};
    CHECK(fixture.attempt().error().message == "HTTP 503");
  }
  SECTION("limit") {
    CHECK(fixture.attempt(0.01).error().code == ErrorCode::resource_exhausted);
    CHECK(fixture.model.prompts.empty());
  }
  SECTION("unknown operator") {
    fixture.server.answers["fetch_spec"] = {
        {true, "unknown operator 'scale'; did you mean ...", nullptr}};
    CHECK(fixture.attempt().error().message.find("did you mean") != std::string::npos);
  }
  SECTION("a run that is over") {
    fixture.server.answers["report_usage"] = {
        {true, "error (permission_denied): this run is over", nullptr}};
    const Result<Attempt> attempt = fixture.attempt();
    REQUIRE_FALSE(attempt);
    CHECK(attempt.error().code == ErrorCode::permission_denied);
    CHECK(fixture.server.count("submit") == 0);
  }
  SECTION("server gone") {
    fixture.server.answers.clear();
    CHECK(fixture.attempt().error().code == ErrorCode::unavailable);
  }
}

TEST_CASE("the transcript holds every prompt, reply and tool call in order") {
  Fixture fixture;
  REQUIRE(fixture.attempt());
  std::string kinds;
  for (const json& line : fixture.lines())
    kinds += line["kind"].get<std::string>() +
             (line.contains("tool") ? ":" + line["tool"].get<std::string>() : "") + " ";
  CHECK(kinds ==
        "tool_call:fetch_spec tool_result:fetch_spec prompt reply tool_call:report_usage "
        "tool_result:report_usage tool_call:compile tool_result:compile "
        "tool_call:run_tests tool_result:run_tests tool_call:submit tool_result:submit ");
}

TEST_CASE("start_run: handle and suite, or the server's refusal") {
  Fixture fixture;
  fixture.server.answers["start_run"] = {
      {false, "run", {{"run", "run_9"}, {"operators", {"a", "b"}}}}};
  const Result<RunHandle> run =
      start_run(fixture.server, {"one_shot", "fake:model", "one_shot", "standard"});
  REQUIRE(run);
  CHECK(run->run == "run_9");
  CHECK(run->operators == std::vector<std::string>{"a", "b"});
  CHECK(fixture.server.arguments_of("start_run") == json{{"agent", "one_shot"},
                                                         {"model", "fake:model"},
                                                         {"track", "one_shot"},
                                                         {"suite", "standard"}});
  fixture.server.answers["start_run"] = {
      {true, "unknown suite 'x'; valid: all, standard, ood, dsl", nullptr}};
  CHECK(start_run(fixture.server, {"one_shot", "m", "one_shot", "x"})
            .error()
            .message.find("valid: all") != std::string::npos);
}
