#include "server/bench/attempt.h"

#include <utility>

#include "base/clock.h"
#include "reference_agents/core/replay.h"
#include "reference_agents/core/transcript.h"
#include "reference_agents/llm/metered.h"
#include "reference_agents/registry/agents.h"

namespace assay::server {
namespace {

/// The recorded replies in the place of the model.
Result<BenchAttempt> replayed(mcp::Client& client, const BenchPair& pair, const BenchTask& task,
                              agents::Transcript& transcript,
                              const agents::AttemptRequest& request) {
  Result<agents::RecordedReplies> replies =
      agents::RecordedReplies::load(transcript_path(pair.recorded, task.sample, task.operator_name),
                                    task.transcript, pair.model_label);
  if (!replies) return fail(replies.error());
  agents::MeteredClient metered(*replies, std::nullopt, agents::Spending{});
  const Result<agents::Attempt> ended =
      agents::attempt_operator(pair.agent, client, metered, transcript, request);
  if (!ended && !replies->refused()) return fail(ended.error());
  const Result<std::string> deviation = replies->deviation();
  if (!deviation) return fail(deviation.error());
  if (ended) return BenchAttempt{*ended, *deviation};
  agents::Attempt end;
  end.outcome = kNoReply;
  end.explanation = "replay: " + *deviation;
  return BenchAttempt{end, *deviation};
}

std::vector<sandbox::Hint> hints_of(const agents::Attempt& attempt) {
  std::vector<sandbox::Hint> hints;
  for (const agents::AttemptHint& hint : attempt.hints)
    hints.push_back(
        {sandbox::hint_kind_from(hint.kind).value_or(sandbox::HintKind::other), "", hint.text});
  return hints;
}

}  // namespace

Result<BenchAttempt> make_attempt(mcp::Client& client, agents::SpendingBudget& purse,
                                  const BenchPlan& plan, const BenchTask& task,
                                  const std::function<void(const std::string& step)>& step) {
  const BenchPair& pair = plan.pairs[task.pair];
  const SystemClock clock;
  Result<agents::Transcript> transcript = agents::Transcript::open(task.transcript, clock);
  if (!transcript) return fail(transcript.error());
  agents::AttemptRequest request;
  request.run = task.run;
  request.operator_name = task.operator_name;
  request.sample = task.sample;
  request.data_dir = plan.agents_dir;
  request.step = step;
  if (pair.model == nullptr) return replayed(client, pair, task, *transcript, request);
  agents::MeteredClient metered(*pair.model, pair.price, purse);
  Result<agents::Attempt> ended =
      agents::attempt_operator(pair.agent, client, metered, *transcript, request);
  if (!ended) return fail(ended.error());
  return BenchAttempt{std::move(*ended), ""};
}

Label label_of(const agents::Attempt& attempt) {
  const bool not_submitted = attempt.outcome == "no_code" || attempt.outcome == "refused" ||
                             attempt.outcome == kNoReply ||
                             attempt.error_kind == agents::kPromptRefused;
  if (not_submitted) return Label::missing;
  return label_of(sandbox::outcome_from(attempt.outcome).value_or(sandbox::Outcome::error),
                  sandbox::error_kind_from(attempt.error_kind).value_or(sandbox::ErrorKind::none),
                  sandbox::stage_from(attempt.stage).value_or(sandbox::Stage::done),
                  hints_of(attempt));
}

std::string explanation_of(const BenchAttempt& made) {
  const agents::Attempt& attempt = made.end;
  const std::string prefix = attempt.outcome + ": ";
  std::string text = attempt.explanation.starts_with(prefix)
                         ? attempt.explanation.substr(prefix.size())
                         : attempt.explanation;
  if (label_of(attempt) == Label::slow) text = slow_hint(hints_of(attempt));
  return made.replay.empty() || attempt.outcome == kNoReply
             ? text
             : "replay: " + made.replay + "; " + text;
}

}  // namespace assay::server
