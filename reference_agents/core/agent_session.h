// AgentSession is an agent's access to the model and to the server during one attempt at one
// operator. It asks the model, lets the server compile, test, profile and grade, counts tokens and
// money, and writes the transcript. To continue an attempt that was interrupted, the agent starts
// again, and the session answers the earlier steps from the transcript. So nothing is asked or
// charged twice. This works because an agent's steps depend only on replies and answers: the agent
// repeats the same steps.
//
//   Result<Spec> spec = session.fetch_spec();
//   Result<CompletionReply> reply = session.ask(system, "Write " + spec->entry);
//   const std::string code = extract_code(reply->text, spec->entry);
//   Result<Evaluation> evaluation = session.evaluate(code);
//   return session.submit(code, "");
//
// A session belongs to one attempt and one thread.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "base/result.h"
#include "reference_agents/core/attempt.h"
#include "reference_agents/core/evaluation.h"
#include "reference_agents/core/tool_session.h"
#include "reference_agents/core/transcript.h"
#include "reference_agents/llm/spending.h"
#include "server/mcp/client/client.h"

namespace assay::agents {

/// Opens a run on the server. Errors: not_found with the server's message if the server refuses;
/// the connection's error if the connection is broken.
Result<RunHandle> start_run(mcp::Client& client, const RunWish& wish);

using PromptValues = std::map<std::string, std::string>;

/// Replaces each placeholder, such as {{code}}, by its value. A placeholder inside of a value stays
/// unchanged. Errors: invalid_argument if a placeholder has no value or a value has no placeholder,
/// and the message names it.
Result<std::string> fill_places(std::string_view text, const PromptValues& values);
/// Reads a prompt from a file and fills its placeholders. Errors: those of fill_places(); io if the
/// file cannot be read.
Result<std::string> fill_prompt(const std::filesystem::path& file, const PromptValues& values);

/// The first stage of an evaluation.
enum class FirstStage { compile, run_tests };

/// The number of consecutive refusals of one prompt after which the attempt ends. An endpoint
/// refuses a prompt (HTTP 400, 413 or 422) because the prompt is too long or because a filter
/// matches it. Filters are not deterministic, so a single refusal is not final.
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

  /// Fetches the operator's specification. Errors: not_found with the server's message if the
  /// operator is unknown.
  Result<Spec> fetch_spec();

  /// Reads the prompt in `file`, a path below reference_agents/, and fills its placeholders.
  Result<std::string> prompt(const std::string& file, const PromptValues& values) const {
    return fill_prompt(request_.data_dir / file, values);
  }
  /// Asks the model and reports the cost of the reply to the server. The session sets the prompt's
  /// `attempt`, `turn` and `max_tokens`. Errors: invalid_argument if the endpoint has refused the
  /// prompt kMostPromptRefusals times. After this error prompt_refused() is true, and the agent can
  /// only call submit_best().
  Result<CompletionReply> ask(CompletionRequest prompt);
  /// Asks the model with one system text and one user message.
  Result<CompletionReply> ask(const std::string& system, const std::string& text);

  /// Calls the tools compile and run_tests, and profile if the device measures times. Each stage
  /// runs only if the stage before it passed. A repeated evaluation of the same code is answered
  /// from memory and costs no budget. Stages before `first` are left out. Without the stage
  /// compile, a version that does not compile costs a call of run_tests.
  Result<Evaluation> evaluate(const std::string& code, FirstStage first = FirstStage::compile);
  /// Calls a tool with this code and waits until the tool's job ends. If an earlier call had the
  /// code, or the code from which edited() made it, sends the handle of this call and the edits in
  /// place of the code, if that is shorter.
  Result<mcp::ToolResult> call(const std::string& tool, const std::string& code);
  /// Applies the edits in a model's reply to `code`. Remembers the edits for call(). Errors: those
  /// of parse_edits() and apply_edits(), which are messages for the model.
  Result<std::string> edited(const std::string& code, const std::string& reply);
  /// Calls a tool that takes other arguments than code. The result's `is_error` is true if the
  /// server refuses.
  Result<mcp::ToolResult> call_tool(const std::string& tool, const nlohmann::json& arguments) {
    return tools_.call(tool, arguments);
  }
  Result<bool> has_tool(const std::string& tool);
  /// Returns the URIs of the server's resources.
  Result<std::vector<std::string>> list_resources() { return client_.list_resources(); }
  /// Returns the text of one resource. The result's `is_error` is true if the server refuses.
  Result<mcp::ToolResult> read_resource(const std::string& uri) { return tools_.read(uri); }

  /// Returns the text that seeds an agent's random numbers: the operator and the sample. The text
  /// is the same when an interrupted attempt continues.
  std::string identity() const { return request_.operator_name + "\n" + sample_name(); }

  /// Submits `code` for its grade and ends the attempt. If `code` is empty, nothing is submitted
  /// and `why_no_code` becomes the attempt's explanation.
  Result<Attempt> submit(const std::string& code, const std::string& why_no_code);

  bool prompt_refused() const { return !refusal_.empty(); }
  /// Ends an attempt whose prompt was refused. Submits the best evaluated version. If no version
  /// was evaluated, the attempt ends as an error of the kind prompt_refused with the endpoint's
  /// message.
  Result<Attempt> submit_best();

  /// Writes a note to the transcript.
  Status note(const std::string& text);
  /// Writes a note to the transcript and appends it to the attempt's explanation in the bench's
  /// report.
  Status remark(const std::string& text);

 private:
  Result<CompletionReply> answer_to(const CompletionRequest& prompt);
  Status count(const CompletionReply& reply, bool paid_before);
  Result<mcp::ToolResult> earlier_submission(mcp::ToolResult refusal);
  /// Returns the arguments that name the code for the server.
  nlohmann::json source_of(const std::string& code) const;
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
  std::map<std::string, Evaluation> seen_;  // the evaluations, by code
  struct Origin {
    std::string code, edits;
  };
  std::map<std::string, Origin> origins_;    // what edited() changed, by the code that it returned
  std::map<std::string, std::string> sent_;  // the handle of the newest job with a code, by code
  std::string refusal_;                      // the endpoint's message; empty: no prompt was refused
  ReplyEnd last_end_ = ReplyEnd::whole;      // of the newest reply
  std::string remarks_;
  bool usage_remarked_ = false;
  std::int64_t charged_calls_ = 0;  // the number of calls of call(), which names them
};

}  // namespace assay::agents
