// Defines fakes for the tests of whole attempts: a server that judges a source by the words in it,
// and a model that gives its answers in order.
//
//   Fixture fixture;
//   Answers model({module_of("broken"), edit_of("broken", "perf=0.5")});
//   const Result<Attempt> attempt = fixture.attempt("leader?rounds=2", model);
#pragma once

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/handle.h"
#include "base/text_edits.h"
#include "reference_agents/registry/agents.h"
#include "tests/catch.h"
#include "tests/reference_agents/core/fakes.h"

namespace assay::agents::testing {

/// A server whose verdict depends on a word in the code: "broken", "wrong", or "perf=X".
class Judge final : public mcp::Client {
 public:
  Result<std::vector<std::string>> list_tools() override { return std::vector<std::string>{}; }
  Result<mcp::ToolResult> call_tool(const std::string& name, const json& arguments,
                                    std::int64_t) override {
    if (--calls_left < 0) return fail(ErrorCode::unavailable, "the connection is closed");
    ++calls[name];
    if (name == "fetch_spec")
      return mcp::ToolResult{false, "f(x: Tensor) -> Tensor", {{"entry", "f"}}};
    if (name == "report_usage") return mcp::ToolResult{false, "ok", json::object()};
    const std::string code = code_of(arguments);
    if (code.empty())
      return mcp::ToolResult{true,
                             "error (not_found): unknown job",
                             {{"status", "error"}, {"error", {{"code", "not_found"}}}}};
    sent.push_back(arguments);
    if (name == "submit") submitted = code;
    const std::string job = "job_" + std::to_string(sent.size() - 1);
    if (!forgets) jobs_[job] = code;
    if (code.find("broken") != std::string::npos) return verdict("error", "syntax_error", job);
    if (name != "compile" && code.find("wrong") != std::string::npos)
      return verdict("fail", "wrong_result", job);
    mcp::ToolResult answer = verdict("pass", "none", job);
    answer.structured["tier"] = timed ? "plan" : "interpreter";
    const std::size_t at = code.find("perf=");
    if (timed && name == "profile" && at != std::string::npos) {
      const double oracle_ns = 1000 * std::stod(code.substr(at + 5));
      answer.structured["cases"] =
          json::array({{{"latency", {{"median_ns", 1000.0}}},
                        {"baseline_latency", {{"median_ns", oracle_ns}}}}});
    }
    return answer;
  }
  Result<std::vector<std::string>> list_resources() override {
    return std::vector<std::string>{"operator://f/spec", "guide://triton-pitfalls"};
  }
  Result<std::string> read_resource(const std::string& uri) override {
    if (--calls_left < 0) return fail(ErrorCode::unavailable, "the connection is closed");
    ++calls["read " + uri];
    return "# Pitfalls\nMask every load.";
  }
  bool timed = true;
  int calls_left = 1'000'000;
  std::map<std::string, int> calls;
  std::string submitted;
  std::vector<json> sent;  // the arguments of the calls that judged a source
  bool forgets = false;    // true: no job can be found later

 private:
  /// Returns the source that the arguments name, or "" if they name an unknown job.
  std::string code_of(const json& arguments) const {
    if (arguments.contains("code")) return arguments["code"];
    const auto earlier = jobs_.find(arguments.at("source"));
    if (earlier == jobs_.end()) return "";
    if (!arguments.contains("edits")) return earlier->second;
    const auto edits = parse_edits(arguments["edits"].get<std::string>());
    REQUIRE(edits);
    return *apply_edits(earlier->second, *edits);
  }
  std::map<std::string, std::string> jobs_;  // sources, by the handle of the job

  static mcp::ToolResult verdict(const std::string& outcome, const std::string& kind,
                                 const std::string& job) {
    return {false,
            outcome + ": " + kind,
            {{"outcome", outcome}, {"error_kind", kind}, {"stage", "done"}, {"job", job}}};
  }
};

/// A model that gives its answers in order and then repeats the last answer.
class Answers final : public LlmClient {
 public:
  explicit Answers(std::vector<std::string> texts) : texts_(std::move(texts)) {}
  Result<CompletionReply> complete(const CompletionRequest& request) override {
    prompts.push_back(request);
    if (request.turn >= refused_from)
      return fail(ErrorCode::invalid_argument, "HTTP 400: too long");
    return CompletionReply{
        texts_[std::min<std::size_t>(static_cast<std::size_t>(request.turn), texts_.size() - 1)],
        "stop", 10, 1, true};
  }
  std::string label() const override { return "fake:model"; }
  bool is_model() const override { return true; }
  std::vector<CompletionRequest> prompts;
  std::int64_t refused_from = 1'000'000;  // the turn from which prompts are refused

 private:
  const std::vector<std::string> texts_;
};

inline std::string module_of(const std::string& remark) {
  return "```python\n# " + remark + "\ndef f(x):\n    return x\n```\n";
}
inline std::string edit_of(const std::string& from, const std::string& to) {
  return "<<<<<<< SEARCH\n# " + from + "\n=======\n# " + to + "\n>>>>>>> REPLACE\n";
}

struct Fixture {
  std::filesystem::path file =
      std::filesystem::temp_directory_path() / new_handle("agents_test") / "f.jsonl";
  Judge server;
  SystemClock clock;
  ~Fixture() { std::filesystem::remove_all(file.parent_path()); }

  Result<Attempt> attempt(const std::string& agent, LlmClient& model) {
    const Result<AgentChoice> choice = parse_agent(agent);
    REQUIRE(choice);
    Result<Transcript> transcript = Transcript::open(file, clock);
    REQUIRE(transcript);
    MeteredClient metered(model, std::nullopt, {});
    return attempt_operator(*choice, server, metered, *transcript,
                            {.run = "run_1",
                             .operator_name = "f",
                             .data_dir = std::string(ASSAY_SOURCE_DIR) + "/reference_agents",
                             .step = {}});
  }
};

}  // namespace assay::agents::testing
