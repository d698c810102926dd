#include "reference_agents/leader/leader.h"

#include <cstdint>
#include <string>

#include "reference_agents/core/evaluation.h"
#include "reference_agents/core/reply_code.h"

namespace assay::agents {
namespace {

struct Leader {
  std::string code;  // the best version; empty before the first reply with code
  Evaluation evaluation;
  std::string last_round;  // the result of the last round, as text for the model
};

/// Returns the version that the reply describes. If the reply describes no version, the Error has a
/// message for the model.
Result<std::string> candidate_in(AgentSession& session, const CompletionReply& reply,
                                 const Leader& leader, const Spec& spec) {
  if (leader.code.empty()) {
    std::string code = code_of(reply, spec.entry);
    if (code.empty()) return fail(ErrorCode::invalid_argument, why_no_code(reply));
    return code;
  }
  Result<std::string> changed = session.edited(leader.code, reply.text);
  if (changed && *changed == leader.code)
    return fail(ErrorCode::invalid_argument, "the edits change nothing");
  return changed;
}

Result<std::string> round_text(AgentSession& session, const Spec& spec, const Leader& leader) {
  PromptValues values = {
      {"operator", spec.operator_name}, {"spec", spec.text}, {"last_round", leader.last_round}};
  if (leader.code.empty()) return session.prompt("leader/prompts/first.md", values);
  values["code"] = leader.code;
  values["metrics"] = metrics_text(leader.evaluation);
  values["verdict"] = leader.evaluation.feedback;
  return session.prompt("leader/prompts/round.md", values);
}

void take_or_revert(const std::string& code, const Evaluation& evaluation, Leader& leader) {
  if (leader.code.empty() || is_better(evaluation, leader.evaluation)) {
    leader = {code, evaluation, "kept: " + metrics_text(evaluation)};
    return;
  }
  leader.last_round = "taken back, because it is no better: " + metrics_text(evaluation) +
                      ", and the leading code is: " + metrics_text(leader.evaluation) +
                      ". The server said of the version taken back:\n" + evaluation.feedback;
}

}  // namespace

const std::vector<NumberOption>& leader_options() {
  static const std::vector<NumberOption> list = {
      {"rounds", 8, 1, 9, "number of replies; each can cost one of the track's 10 tests", true}};
  return list;
}

Result<Attempt> attempt_leader(AgentSession& session, const NumberValues& options) {
  const Result<Spec> spec = session.fetch_spec();
  if (!spec) return fail(spec.error());
  const Result<std::string> system = session.prompt("leader/prompts/system.md", {});
  if (!system) return fail(system.error());
  Leader leader;
  leader.last_round = "none yet";
  const auto rounds = static_cast<std::int64_t>(options.at("rounds"));
  for (std::int64_t round = 1; round <= rounds; ++round) {
    const Result<std::string> text = round_text(session, *spec, leader);
    if (!text) return fail(text.error());
    const Result<CompletionReply> reply = session.ask(*system, *text);
    if (!reply) return fail(reply.error());
    const Result<std::string> code = candidate_in(session, *reply, leader, *spec);
    if (!code) {
      leader.last_round = "nothing was tried: " + code.error().message;
      if (Status noted = session.note(leader.last_round); !noted) return fail(noted.error());
      continue;
    }
    const Result<Evaluation> evaluation = session.evaluate(*code);
    if (!evaluation) return fail(evaluation.error());
    if (evaluation->refused && !leader.code.empty()) break;
    take_or_revert(*code, *evaluation, leader);
    if (Status noted = session.note(leader.last_round); !noted) return fail(noted.error());
    if (!is_worth_more_work(leader.evaluation)) {
      if (Status remarked = session.remark(why_no_more_work(leader.evaluation)); !remarked)
        return fail(remarked.error());
      break;
    }
  }
  return session.submit(leader.code, "none of " + std::to_string(rounds) + " replies holds code");
}

}  // namespace assay::agents
