// AgentSession is an agent's access to the model and to the server during one attempt at one
// operator. It asks the model, lets the server compile, test, profile and grade, counts tokens and
// money, and writes the transcript. An attempt that was cut short continues where it stopped: the
// session answers from the transcript until its end, so nothing is asked or charged twice. This
// works because an agent's steps depend only on replies and answers, so it repeats the same steps.
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
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "reference_agents/core/attempt.h"
#include "reference_agents/core/evaluation.h"
#include "reference_agents/core/transcript.h"
#include "reference_agents/llm/spending.h"
#include "server/mcp/client/client.h"

namespace assay::agents {

/// Opens a run on the server. Errors: not_found with the server's message if the server refuses, or
/// the error of a broken connection.
Result<RunHandle> start_run(mcp::Client& client, const RunWish& wish);

/// Makes the tool calls of one attempt and writes them to the transcript. A call that an
/// interrupted part of the attempt has already made is answered from the transcript. One per
/// thread.
class ToolSession {
 public:
  /// The clock must outlive the object.
  ToolSession(mcp::Client& client, Transcript& transcript, const Clock& clock = system_clock())
      : client_(client), transcript_(transcript), clock_(clock) {}

  /// Makes one call. A refusal is a ToolResult with `is_error`. An Error means that the connection
  /// or the transcript is broken, or that the server failed through no fault of the caller.
  Result<mcp::ToolResult> call(const std::string& tool, const nlohmann::json& arguments);
  /// Makes one call, then calls `job` until the work is over. unavailable if that takes longer than
  /// `follow_ms`.
  Result<mcp::ToolResult> call_to_end(const std::string& tool, const nlohmann::json& arguments,
                                      std::int64_t follow_ms);

  /// Reads a resource. The transcript shows it as a call of the tool "resources/read". `is_error`
  /// is true if the server refuses.
  Result<mcp::ToolResult> read(const std::string& uri);

  std::int64_t calls() const { return calls_; }

 private:
  Status record(const std::string& tool, const mcp::ToolResult& result);

  mcp::Client& client_;
  Transcript& transcript_;
  const Clock& clock_;
  std::int64_t calls_ = 0;
};

using PromptValues = std::map<std::string, std::string>;

/// Replaces each place, such as {{code}}, by its value. A place inside of a value stays as it is.
/// invalid_argument names a place without a value or a value without a place.
Result<std::string> fill_places(std::string_view text, const PromptValues& values);
/// Reads a prompt from a file and fills its places. Adds the error io if the file cannot be read.
Result<std::string> fill_prompt(const std::filesystem::path& file, const PromptValues& values);

/// The first stage of an evaluation.
enum class FirstStage { compile, run_tests };

/// The attempt ends after this number of consecutive refusals of one prompt by the endpoint (HTTP
/// 400, 413 or 422, because of its length or a filter). Filters are not deterministic, so one
/// refusal is not final.
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

  /// not_found with the server's message for an unknown operator.
  Result<Spec> fetch_spec();

  /// Fills the prompt in `file`, a path below reference_agents/.
  Result<std::string> prompt(const std::string& file, const PromptValues& values) const {
    return fill_prompt(request_.data_dir / file, values);
  }
  /// Asks the model and reports the cost of the reply to the server. The session sets the prompt's
  /// `attempt`, `turn` and `max_tokens`. Fails with invalid_argument when the endpoint has refused
  /// the prompt kMostPromptRefusals times. From then on prompt_refused() is true, and the agent can
  /// only call submit_best().
  Result<CompletionReply> ask(CompletionRequest prompt);
  /// Asks with one system text and one message.
  Result<CompletionReply> ask(const std::string& system, const std::string& text);

  /// Calls compile, run_tests, and profile if the device measures times. Each stage runs only if
  /// the one before it passed. A repeated evaluation of the same code is answered from memory and
  /// costs no budget. Stages before `first` are left out; without compile, a version that does not
  /// compile costs a test.
  Result<Evaluation> evaluate(const std::string& code, FirstStage first = FirstStage::compile);
  /// Calls a tool with this code and waits for its job to end.
  Result<mcp::ToolResult> call(const std::string& tool, const std::string& code);
  /// Calls any other tool. `is_error` is true if the server refuses.
  Result<mcp::ToolResult> call_tool(const std::string& tool, const nlohmann::json& arguments) {
    return tools_.call(tool, arguments);
  }
  Result<bool> has_tool(const std::string& tool);
  /// The URIs of the server's resources.
  Result<std::vector<std::string>> list_resources() { return client_.list_resources(); }
  /// The text of one resource. `is_error` is true if the server refuses.
  Result<mcp::ToolResult> read_resource(const std::string& uri) { return tools_.read(uri); }

  /// The seed text for an agent's random numbers: operator and sample. It stays the same when an
  /// interrupted attempt continues.
  std::string identity() const { return request_.operator_name + "\n" + sample_name(); }

  /// Submits `code` for its grade and ends the attempt. If `code` is empty, nothing is submitted
  /// and `why_no_code` becomes the explanation.
  Result<Attempt> submit(const std::string& code, const std::string& why_no_code);

  bool prompt_refused() const { return !refusal_.empty(); }
  /// Ends an attempt whose prompt was refused. Submits the best evaluated version. If there is
  /// none, the attempt ends as an error of the kind prompt_refused with the endpoint's message.
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
  std::string refusal_;                     // the endpoint's message
  std::string remarks_;
  bool usage_remarked_ = false;
};

}  // namespace assay::agents
