// AgentSession: what every agent works with while it is at one operator. It asks the model, lets
// the server compile, test, profile and grade, counts tokens and money, and keeps the transcript;
// an attempt that was cut short is taken up where it stood, without asking or charging anything
// twice. An agent is a function of replies and answers and nothing else, so that it takes the same
// steps again.
//
//   Result<Spec> spec = bench.fetch_spec();
//   Result<CompletionReply> reply = bench.ask({.system = "...", .messages = {{"user", "..."}}});
//   Result<Evaluation> evaluation = bench.evaluate(extract_code(reply->text, spec->entry));
//   return bench.submit(best_code);
//
// One per attempt and thread.
//
// Prompts are files: reference_agents/AGENT/prompts/NAME.md, with {{places}} that the agent fills.
// What is filled in is not looked through for places again. Pure but for the reading, safe from any
// thread.
//
//   Result<std::string> text = fill_prompt(data_dir / "leader/prompts/round.md", {{"code", code},
//   {"verdict", verdict}});
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "reference_agents/core/attempt.h"
#include "reference_agents/core/evaluation.h"
#include "reference_agents/core/tool_session.h"
#include "reference_agents/core/transcript.h"
#include "reference_agents/llm/spending.h"
#include "server/mcp/client/client.h"

namespace assay::agents {

using PromptValues = std::map<std::string, std::string>;

/// invalid_argument for a place without a value or a value without a place, naming it.
Result<std::string> fill_places(std::string_view text, const PromptValues& values);
/// Also io, when the file cannot be read.
Result<std::string> fill_prompt(const std::filesystem::path& file, const PromptValues& values);

/// Where the cascade of an evaluation begins.
enum class FirstStage { compile, run_tests };

/// So often in a row an endpoint may refuse one prompt (HTTP 400, 413 or 422: its length, a
/// filter); filters waver. Then the attempt is over.
inline constexpr int kMostPromptRefusals = 3;

class AgentSession {
 public:
  AgentSession(mcp::Client& client, MeteredClient& model, Transcript& transcript,
               const AttemptRequest& request)
      : client_(client),
        model_(model),
        transcript_(transcript),
        request_(request),
        tools_(client, transcript) {}

  /// not_found, in the server's words, when the operator is none.
  Result<Spec> fetch_spec();

  /// The text of reference_agents/AGENT/prompts/NAME.md.
  Result<std::string> prompt(const std::string& file, const PromptValues& values) const {
    return fill_prompt(request_.data_dir / file, values);
  }
  /// Sets who asks, which turn it is and how long the reply may be; tells the server what the reply
  /// cost. invalid_argument, and prompt_refused() from then on, once the endpoint has refused this
  /// prompt kMostPromptRefusals times: there is nothing more to do but submit_best().
  Result<CompletionReply> ask(CompletionRequest prompt);
  /// The same for one system text and one message.
  Result<CompletionReply> ask(const std::string& system, const std::string& text);

  /// compile, then run_tests, then profile where something is timed: each only if the one before
  /// passed. Code that was seen before is answered from memory and costs no budget. `first` leaves
  /// out the stages before it: a version that does not compile then costs a test.
  Result<Evaluation> evaluate(const std::string& code, FirstStage first = FirstStage::compile);
  /// One call with this code, followed to its end. `step` is the tool's name.
  Result<mcp::ToolResult> call(const std::string& tool, const std::string& code);
  /// Any other tool; is_error when the server refuses.
  Result<mcp::ToolResult> call_tool(const std::string& tool, const nlohmann::json& arguments) {
    return tools_.call(tool, arguments);
  }
  Result<bool> has_tool(const std::string& tool);
  /// The addresses that the server lists, and the text of one; is_error when the server refuses.
  Result<std::vector<std::string>> list_resources() { return client_.list_resources(); }
  Result<mcp::ToolResult> read_resource(const std::string& uri) { return tools_.read(uri); }

  /// What an agent may draw by: operator and sample, the same however often the attempt is taken up
  /// again.
  std::string identity() const { return request_.operator_name + "\n" + sample_name(); }

  /// The graded end of the attempt; without code there is nothing to grade, and `why_no_code` says
  /// why.
  Result<Attempt> submit(const std::string& code, const std::string& why_no_code);

  bool prompt_refused() const { return !refusal_.empty(); }
  /// The end of an attempt whose prompt was refused: the best version that was evaluated is
  /// submitted. Where there is none the attempt ends in an error of the kind prompt_refused, with
  /// the endpoint's words.
  Result<Attempt> submit_best();

  /// Goes to the transcript.
  Status note(const std::string& text);
  /// Also to the end of the attempt's explanation, for whoever reads the bench.
  Status remark(const std::string& text);

 private:
  Result<CompletionReply> answer_to(const CompletionRequest& prompt);
  Status count(const CompletionReply& reply, bool paid_before);
  Result<mcp::ToolResult> earlier_submission(mcp::ToolResult refusal);
  std::string sample_name() const { return "sample " + std::to_string(request_.sample); }
  void step(const std::string& name) const {
    if (request_.step) request_.step(name);
  }

  mcp::Client& client_;
  MeteredClient& model_;
  Transcript& transcript_;
  const AttemptRequest& request_;
  ToolSession tools_;
  Attempt attempt_;
  std::map<std::string, Evaluation> seen_;  // by code
  std::string refusal_;                     // the endpoint's words
  std::string remarks_;
  bool usage_remarked_ = false;
};

}  // namespace assay::agents
