#include "reference_agents/core/agent_session.h"

#include <algorithm>
#include <cstdint>
#include <fstream>
#include <iterator>
#include <optional>
#include <set>
#include <utility>

#include "base/handle.h"
#include "base/text_edits.h"
#include "reference_agents/core/evaluation.h"
#include "reference_agents/llm/json_fields.h"

namespace assay::agents {
namespace {

using nlohmann::json;

/// The maximum number of times that a job is repeated because the server failed. A failed job costs
/// no budget: the server refunds it.
constexpr int kMostRepeats = 2;
constexpr const char* kInterpreterTier = "interpreter";

std::string first_line(const std::string& text) { return text.substr(0, text.find('\n')); }

bool is_servers_fault(const mcp::ToolResult& answer) {
  const std::string kind = string_field(verdict_in(answer.structured), "error_kind");
  return kind == "aborted" || kind == "internal_error" || kind == "device_unhealthy";
}

bool is_not_found(const mcp::ToolResult& answer) {
  return answer.is_error && string_field(answer.structured, "error", "code") == "not_found";
}

}  // namespace

Result<RunHandle> start_run(mcp::Client& client, const RunWish& wish) {
  json arguments = {
      {"agent", wish.agent}, {"model", wish.model}, {"track", wish.track}, {"suite", wish.suite}};
  if (!wish.call_id.empty()) arguments[kCallId] = wish.call_id;
  const Result<mcp::ToolResult> answer = client.call_tool("start_run", arguments);
  if (!answer) return fail(answer.error());
  if (answer->is_error) {
    const json* error = field(answer->structured, "error");
    const json* retryable = error == nullptr ? nullptr : field(*error, "retryable");
    const bool passes = retryable != nullptr && retryable->is_boolean() && retryable->get<bool>();
    return fail(passes ? ErrorCode::unavailable : ErrorCode::not_found,
                "start_run: " + answer->text.substr(0, answer->text.find('\n')));
  }
  RunHandle handle{string_field(answer->structured, "run"), {}};
  const json* operators = field(answer->structured, "operators");
  if (operators != nullptr && operators->is_array()) {
    for (const json& name : *operators) {
      if (name.is_string()) handle.operators.push_back(name.get<std::string>());
    }
  }
  handle.suite_id = {string_field(answer->structured, "suite_id", "name"),
                     string_field(answer->structured, "suite_id", "version"),
                     string_field(answer->structured, "suite_id", "digest")};
  if (handle.run.empty() || handle.operators.empty())
    return fail(ErrorCode::corrupt, "start_run answered without `run` or `operators`");
  return handle;
}

Result<Spec> AgentSession::fetch_spec() {
  step("fetch_spec");
  const Result<mcp::ToolResult> answer = tools_.call(
      "fetch_spec", {{"operator", request_.operator_name}, {"response_format", "detailed"}});
  if (!answer) return fail(answer.error());
  if (answer->is_error)
    return fail(ErrorCode::not_found, "fetch_spec: " + first_line(answer->text));
  const json& said = answer->structured;
  return Spec{request_.operator_name, string_field(said, "entry"), string_field(said, "dialect"),
              answer->text, string_field(said, "family")};
}

Result<CompletionReply> AgentSession::ask(const std::string& system, const std::string& text) {
  CompletionRequest prompt;
  prompt.system = system;
  prompt.messages.push_back({"user", text});
  return ask(std::move(prompt));
}

Result<CompletionReply> AgentSession::ask(CompletionRequest prompt) {
  step("model");
  prompt.max_tokens = request_.max_tokens;
  prompt.attempt = sample_name();
  prompt.turn = attempt_.replies;
  prompt.notice = request_.notice;
  Result<std::optional<CompletionReply>> earlier = transcript_.replay_reply();
  if (!earlier) return fail(earlier.error());
  Result<CompletionReply> reply =
      *earlier ? Result<CompletionReply>(std::move(**earlier)) : answer_to(prompt);
  if (!reply) return reply;
  if (reply->prompt_refused) {
    refusal_ = reply->text;
    return fail(ErrorCode::invalid_argument, refusal_);
  }
  last_end_ = reply->end;
  if (Status told = count(*reply, earlier->has_value()); !told) return fail(told.error());
  return reply;
}

/// Asks the model. If the endpoint refuses the prompt, asks again, up to kMostPromptRefusals times.
/// Writes the last refusal to the transcript as a reply with `prompt_refused`, so that a replay of
/// the attempt ends at the same prompt.
Result<CompletionReply> AgentSession::answer_to(const CompletionRequest& prompt) {
  for (int refusals = 1;; ++refusals) {
    if (Status written = transcript_.prompt(prompt); !written) return fail(written.error());
    Result<CompletionReply> reply = model_.complete(prompt);
    if (!reply && reply.error().code == ErrorCode::invalid_argument &&
        refusals == kMostPromptRefusals) {
      CompletionReply refused;
      refused.text = reply.error().message;
      refused.usage_known = true;  // no tokens were used
      refused.prompt_refused = true;
      reply = std::move(refused);
    }
    if (reply) reply->id = new_handle("reply");
    const Status written =
        reply ? transcript_.reply(*reply) : transcript_.note("no reply: " + reply.error().message);
    if (!written) return fail(written.error());
    if (reply || reply.error().code != ErrorCode::invalid_argument) return reply;
  }
}

Status AgentSession::count(const CompletionReply& reply, bool paid_before) {
  const std::optional<double> cost_usd = model_.cost_of(reply);
  ++attempt_.replies;
  attempt_.input_tokens += reply.input_tokens;
  attempt_.output_tokens += reply.output_tokens;
  attempt_.cost_usd += cost_usd.value_or(0);
  attempt_.cost_known = attempt_.cost_known && cost_usd.has_value();
  if (paid_before) attempt_.paid_before_usd += cost_usd.value_or(0);
  attempt_.charged_usd += reply.charged_usd.value_or(cost_usd.value_or(0));
  if (!reply.usage_known && !usage_remarked_) {
    usage_remarked_ = true;
    if (Status said = remark(
            "the endpoint reported no token usage: token counts are too low, the cost is unknown");
        !said)
      return said;
  }
  json usage = {{"run", request_.run},
                {"input_tokens", reply.input_tokens},
                {"output_tokens", reply.output_tokens}};
  if (cost_usd) usage["cost_usd"] = *cost_usd;  // absent if the cost is unknown
  // A bench that was killed while it waited for the answer repeats the report when it is resumed.
  if (!reply.id.empty()) usage["call_id"] = reply.id;
  const Result<mcp::ToolResult> told = tools_.call("report_usage", usage);
  if (!told) return fail(told.error());
  // The server refuses the report if the run is over or unknown. It would then refuse the
  // submission too. So the attempt stops here, before further replies cost money.
  if (told->is_error)
    return fail(ErrorCode::permission_denied, "report_usage: " + first_line(told->text));
  return {};
}

Result<std::string> AgentSession::edited(const std::string& code, const std::string& reply) {
  ASSAY_TRY(edits, parse_edits(reply));
  Result<std::string> changed = apply_edits(code, edits);
  if (changed) origins_[*changed] = {code, text_of(edits)};
  return changed;
}

json AgentSession::source_of(const std::string& code) const {
  if (const auto same = sent_.find(code); same != sent_.end()) return {{"source", same->second}};
  const auto origin = origins_.find(code);
  if (origin != origins_.end() && origin->second.edits.size() < code.size()) {
    if (const auto base = sent_.find(origin->second.code); base != sent_.end())
      return {{"source", base->second}, {"edits", origin->second.edits}};
  }
  return {{"code", code}};
}

Result<mcp::ToolResult> AgentSession::call(const std::string& tool, const std::string& code) {
  step(tool);
  // A bench that was killed while it waited for the answer repeats the call when it is resumed. The
  // id is the same then, because the resumed attempt takes the same steps.
  json arguments = {{"run", request_.run},
                    {"operator", request_.operator_name},
                    {kCallId, transcript_.call_prefix() + "." + std::to_string(++charged_calls_)}};
  arguments.update(source_of(code));
  Result<mcp::ToolResult> answer = tools_.call_to_end(tool, arguments, request_.follow_ms);
  for (int repeat = 0; repeat < kMostRepeats && answer && is_servers_fault(*answer); ++repeat) {
    answer = tools_.call_to_end(tool, arguments, request_.follow_ms);
  }
  if (answer && arguments.contains("source") && is_not_found(*answer)) {
    // The store of a server may have removed an old practice job.
    sent_.clear();
    return call(tool, code);
  }
  if (answer) {
    const std::string job = string_field(answer->structured, "job");
    if (!job.empty()) sent_[code] = job;
  }
  return answer;
}

Result<Evaluation> AgentSession::evaluate(const std::string& code, FirstStage first) {
  if (const auto found = seen_.find(code); found != seen_.end()) return found->second;
  Evaluation evaluation;
  if (first == FirstStage::compile) {
    const Result<mcp::ToolResult> compiled = call("compile", code);
    if (!compiled) return fail(compiled.error());
    read_answer(*compiled, Level::compiles, evaluation);
  }
  Result<mcp::ToolResult> answer = mcp::ToolResult();
  if (first == FirstStage::run_tests || evaluation.outcome == "pass") {
    answer = call("run_tests", code);
    if (!answer) return fail(answer.error());
    read_answer(*answer, Level::correct, evaluation);
    if (evaluation.outcome == "fail")
      evaluation.level = Level::compiles;  // the version ran, but its results are wrong
  }
  // If the tests ran in the interpreter, there is no GPU, so `profile` could not measure a time.
  if (evaluation.level == Level::correct &&
      string_field(verdict_in(answer->structured), "tier") != kInterpreterTier) {
    answer = call("profile", code);
    if (!answer) return fail(answer.error());
    read_profile(*answer, evaluation);
  }
  if (!evaluation.refused) seen_[code] = evaluation;
  return evaluation;
}

Result<bool> AgentSession::has_tool(const std::string& tool) {
  const Result<std::vector<std::string>> tools = client_.list_tools();
  if (!tools) return fail(tools.error());
  return std::find(tools->begin(), tools->end(), tool) != tools->end();
}

/// Returns the verdict of an earlier submission. `refusal` is the answer in which the server
/// refused a submission, perhaps because an interrupted part of this attempt had already submitted.
/// Returns `refusal` if there is no earlier submission.
Result<mcp::ToolResult> AgentSession::earlier_submission(mcp::ToolResult refusal) {
  const Result<mcp::ToolResult> card =
      tools_.call("scorecard", {{"run", request_.run}, {"response_format", "detailed"}});
  if (!card) return fail(card.error());
  const json* operators = field(card->structured, "operators");
  if (operators == nullptr || !operators->is_array()) return refusal;
  for (const json& entry : *operators) {
    const std::string job = string_field(entry, "job");
    if (string_field(entry, "operator") != request_.operator_name || job.empty()) continue;
    return tools_.call_to_end("job", {{"job", job}, {"wait_s", 0}}, request_.follow_ms);
  }
  return refusal;
}

Result<Attempt> AgentSession::submit(const std::string& code, const std::string& why_no_code) {
  Attempt end = attempt_;
  if (code.empty()) {
    end.outcome = last_end_ == ReplyEnd::cut_off ? kTruncated : kNoCode;
    end.explanation = why_no_code;
  } else {
    Result<mcp::ToolResult> answer = call("submit", code);
    if (answer && answer->is_error) answer = earlier_submission(std::move(*answer));
    if (!answer) return fail(answer.error());
    read_verdict(*answer, end);
  }
  end.explanation += remarks_;
  end.tool_calls = tools_.calls();
  return end;
}

Result<Attempt> AgentSession::submit_best() {
  const auto best = std::max_element(seen_.begin(), seen_.end(), [](const auto& a, const auto& b) {
    return is_better(b.second, a.second);
  });
  if (best != seen_.end()) {
    if (Status said = remark("stopped because the endpoint refused a prompt: " + refusal_); !said)
      return fail(said.error());
    return submit(best->first, "");
  }
  Result<Attempt> end = submit("", refusal_);
  if (!end) return end;
  end->outcome = "error";
  end->error_kind = kPromptRefused;
  return end;
}

Status AgentSession::note(const std::string& text) {
  return transcript_.is_replaying() ? Status() : transcript_.note(text);
}

Status AgentSession::remark(const std::string& text) {
  remarks_ += " (" + text + ")";
  return note(text);
}

Result<std::string> fill_places(std::string_view text, const PromptValues& values) {
  std::string filled;
  std::set<std::string> used;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t open = text.find("{{", at);
    const std::size_t close = open == std::string_view::npos ? open : text.find("}}", open);
    filled += text.substr(at, open == std::string_view::npos ? open : open - at);
    if (open == std::string_view::npos) break;
    if (close == std::string_view::npos) return fail(ErrorCode::invalid_argument, "a {{ has no }}");
    const std::string name(text.substr(open + 2, close - open - 2));
    const auto value = values.find(name);
    if (value == values.end())
      return fail(ErrorCode::invalid_argument, "nothing fills the place {{" + name + "}}");
    filled += value->second;
    used.insert(name);
    at = close + 2;
  }
  for (const auto& [name, value] : values) {
    if (used.count(name) == 0)
      return fail(ErrorCode::invalid_argument, "there is no place {{" + name + "}}");
  }
  return filled;
}

Result<std::string> fill_prompt(const std::filesystem::path& file, const PromptValues& values) {
  std::ifstream stream(file, std::ios::binary);
  if (!stream) return fail_errno("open " + file.string());
  const std::string text{std::istreambuf_iterator<char>(stream), {}};
  Result<std::string> filled = fill_places(text, values);
  if (!filled) return fail(filled.error().code, file.string() + ": " + filled.error().message);
  return filled;
}

}  // namespace assay::agents
