#include "reference_agents/one_shot/one_shot.h"

#include "reference_agents/llm/json_fields.h"
#include "reference_agents/one_shot/code_block.h"
#include "reference_agents/one_shot/prompt.h"
#include "reference_agents/one_shot/tool_session.h"

namespace assay::agents {
namespace {

using nlohmann::json;

std::string first_line(const std::string& text) { return text.substr(0, text.find('\n')); }

/// The verdict's fields stand at the top of an answer, or one level down in the answer of `job`.
const json& verdict_in(const json& structured) {
  for (const char* key : {"verdict", "result"}) {
    const json* inner = field(structured, key);
    if (inner != nullptr && field(*inner, "outcome") != nullptr) return *inner;
  }
  return structured;
}

Result<Spec> fetch_spec(ToolSession& tools, const std::string& operator_name) {
  const Result<mcp::ToolResult> answer = tools.call("fetch_spec", {{"operator", operator_name}, {"response_format", "detailed"}});
  if (!answer) return fail(answer.error());
  if (answer->is_error) return fail(ErrorCode::not_found, "fetch_spec: " + first_line(answer->text));
  return Spec{operator_name, string_field(answer->structured, "entry"), string_field(answer->structured, "dialect"), answer->text};
}

/// The model's reply, or the one that an earlier attempt already paid for.
Result<CompletionReply> ask(MeteredClient& model, Transcript& transcript, const AttemptRequest& request, const Spec& spec) {
  if (transcript.earlier_reply()) {
    if (Status written = transcript.note("the reply of an earlier attempt is used again"); !written) return fail(written.error());
    return *transcript.earlier_reply();
  }
  CompletionRequest prompt = one_shot_prompt(spec);
  prompt.max_tokens = request.max_tokens;
  if (Status written = transcript.prompt(prompt); !written) return fail(written.error());
  Result<CompletionReply> reply = model.complete(prompt);
  const Status written = reply ? transcript.reply(*reply) : transcript.note("no reply: " + reply.error().message);
  if (!written) return fail(written.error());
  return reply;
}

Status tell_usage(ToolSession& tools, const Transcript& transcript, const std::string& run, const Attempt& attempt) {
  if (transcript.earlier_usage_told()) return {};
  const json usage = {{"run", run}, {"input_tokens", attempt.input_tokens}, {"output_tokens", attempt.output_tokens}, {"cost_usd", attempt.cost_usd}};
  const Result<mcp::ToolResult> told = tools.call("report_usage", usage);
  if (!told) return fail(told.error());
  // A run that is over or unknown would refuse the submission as well: better to stop here than to pay for more replies.
  if (told->is_error) return fail(ErrorCode::permission_denied, "report_usage: " + first_line(told->text));
  return {};
}

/// A submission is refused when an earlier, cut short attempt already made it: then its verdict is the one that counts.
Result<mcp::ToolResult> earlier_submission(ToolSession& tools, const AttemptRequest& request, mcp::ToolResult refusal) {
  const Result<mcp::ToolResult> card = tools.call("scorecard", {{"run", request.run}, {"response_format", "detailed"}});
  if (!card) return fail(card.error());
  const json* operators = field(card->structured, "operators");
  if (operators == nullptr || !operators->is_array()) return refusal;
  for (const json& entry : *operators) {
    const std::string job = string_field(entry, "job");
    if (string_field(entry, "operator") != request.operator_name || job.empty()) continue;
    return tools.call_to_end("job", {{"job", job}, {"wait_s", 0}}, request.follow_ms);
  }
  return refusal;
}

void read_verdict(const mcp::ToolResult& answer, Attempt& attempt) {
  const json& verdict = verdict_in(answer.structured);
  attempt.outcome = string_field(verdict, "outcome");
  attempt.error_kind = string_field(verdict, "error_kind");
  attempt.stage = string_field(verdict, "stage");
  attempt.explanation = first_line(answer.text);
  if (attempt.outcome.empty()) attempt.outcome = "refused";  // a budget, a lock, a job that was cancelled: the text says which
  const json* hints = field(verdict, "hints");
  if (hints == nullptr || !hints->is_array()) return;
  for (const json& hint : *hints) {
    if (hint.is_string()) attempt.hints.push_back(hint.get<std::string>());
  }
}

}  // namespace

Result<RunHandle> start_one_shot_run(mcp::Client& client, const std::string& model_label, const std::string& suite) {
  const Result<mcp::ToolResult> answer =
      client.call_tool("start_run", {{"agent", "one_shot"}, {"model", model_label}, {"track", "one_shot"}, {"suite", suite}});
  if (!answer) return fail(answer.error());
  if (answer->is_error) return fail(ErrorCode::not_found, "start_run: " + first_line(answer->text));
  RunHandle handle{string_field(answer->structured, "run"), {}};
  const json* operators = field(answer->structured, "operators");
  if (operators != nullptr && operators->is_array()) {
    for (const json& name : *operators) {
      if (name.is_string()) handle.operators.push_back(name.get<std::string>());
    }
  }
  if (handle.run.empty() || handle.operators.empty()) return fail(ErrorCode::corrupt, "start_run answered without `run` or `operators`");
  return handle;
}

Result<Attempt> attempt_operator(mcp::Client& client, MeteredClient& model, Transcript& transcript, const AttemptRequest& request) {
  Attempt attempt;
  ToolSession tools(client, transcript);
  const auto step = [&](const char* name) {
    if (request.step) request.step(name);
  };
  step("fetch_spec");
  const Result<Spec> spec = fetch_spec(tools, request.operator_name);
  if (!spec) return fail(spec.error());
  step("model");
  attempt.reply_reused = transcript.earlier_reply().has_value();
  const Result<CompletionReply> reply = ask(model, transcript, request, *spec);
  if (!reply) return fail(reply.error());
  attempt.input_tokens = reply->input_tokens;
  attempt.output_tokens = reply->output_tokens;
  attempt.cost_usd = model.cost_of(*reply);
  if (Status told = tell_usage(tools, transcript, request.run, attempt); !told) return fail(told.error());
  const std::string code = extract_code(reply->text, spec->entry);
  if (code.empty()) {
    attempt.outcome = "no_code";
    attempt.explanation = "the reply holds no code (stop reason: " + (reply->stop_reason.empty() ? "none given" : reply->stop_reason) + ")";
    attempt.tool_calls = tools.calls();
    return attempt;
  }
  // What these two say is for the record: the model gets no second chance, and the submission is made in any case.
  const json arguments = {{"run", request.run}, {"operator", request.operator_name}, {"code", code}};
  for (const char* tool : {"compile", "run_tests"}) {
    step(tool);
    if (const auto answer = tools.call_to_end(tool, arguments, request.follow_ms); !answer) return fail(answer.error());
  }
  step("submit");
  Result<mcp::ToolResult> submitted = tools.call_to_end("submit", arguments, request.follow_ms);
  if (submitted && submitted->is_error) submitted = earlier_submission(tools, request, std::move(*submitted));
  if (!submitted) return fail(submitted.error());
  read_verdict(*submitted, attempt);
  attempt.tool_calls = tools.calls();
  return attempt;
}

}  // namespace assay::agents
