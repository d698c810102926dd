#include "reference_agents/alphaevolve/alphaevolve.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>

#include "reference_agents/agent/code_block.h"
#include "reference_agents/agent/edits.h"
#include "reference_agents/agent/remarks.h"

namespace assay::agents {
namespace {

struct Program {
  std::string code;
  Evaluation evaluation;
};

/// Of several that are equally good the newest: it has been shown least.
const Program& best_of(const std::vector<Program>& programs) {
  const Program* best = &programs.front();
  for (const Program& program : programs) {
    if (!is_better(best->evaluation, program.evaluation)) best = &program;
  }
  return *best;
}

/// The newest others, with what was said of each.
std::string others_text(const std::vector<Program>& programs, const Program& best, std::size_t most) {
  std::string text;
  std::size_t shown = 0;
  for (auto program = programs.rbegin(); program != programs.rend() && shown < most; ++program) {
    if (&*program == &best) continue;
    text += "A version that was tried (" + metrics_text(program->evaluation) + "):\n\n```python\n" + program->code + "```\n\nThe server said: " +
            program->evaluation.feedback + "\n\n";
    ++shown;
  }
  return text.empty() ? "No other version was tried yet.\n" : text;
}

/// What the reply makes of the best program; an Error is for the model to read.
Result<std::string> candidate_in(const std::string& reply, const Spec& spec, const std::vector<Program>& programs, bool diff) {
  if (!diff || programs.empty()) {
    std::string code = extract_code(reply, spec.entry);
    if (code.empty()) return fail(ErrorCode::invalid_argument, "the reply holds no code");
    return code;
  }
  const Result<std::vector<Edit>> edits = parse_edits(reply);
  if (!edits) return fail(edits.error());
  return apply_edits(best_of(programs).code, *edits);
}

struct Round {
  std::size_t others = 0;
  bool diff = false;
  std::string complaint;  // about the last reply; empty: it could be used
};

Result<std::string> next_text(Workbench& bench, const Spec& spec, const std::vector<Program>& programs, const Round& round) {
  PromptValues values = {{"operator", spec.operator_name}, {"spec", spec.text}};
  values["complaint"] = round.complaint.empty() ? "" : "Your last reply could not be used: " + round.complaint + "\n";
  if (programs.empty()) return bench.prompt("alphaevolve/prompts/first.md", values);
  const Program& best = best_of(programs);
  values["others"] = others_text(programs, best, round.others);
  values["code"] = best.code;
  values["metrics"] = metrics_text(best.evaluation);
  values["verdict"] = best.evaluation.feedback;
  return bench.prompt(round.diff ? "alphaevolve/prompts/diff.md" : "alphaevolve/prompts/next.md", values);
}

}  // namespace

const std::vector<NumberOption>& alphaevolve_options() {
  static const std::vector<NumberOption> list = {
      {"attempts", 5, 1, 9, "replies asked for; each may cost one of the track's 10 tests", true},
      {"others", 2, 0, 8, "earlier versions shown beside the best one", true},
      {"diff", 0, 0, 1, "1: after the first version, edits of the best one instead of whole modules", true},
  };
  return list;
}

Result<Attempt> attempt_alphaevolve(Workbench& bench, const NumberValues& options) {
  const Result<Spec> spec = bench.fetch_spec();
  if (!spec) return fail(spec.error());
  const Result<std::string> system = bench.prompt("alphaevolve/prompts/system.md", {});
  if (!system) return fail(system.error());
  const auto attempts = static_cast<std::int64_t>(options.at("attempts"));
  Round round{static_cast<std::size_t>(options.at("others")), options.at("diff") > 0, ""};
  std::vector<Program> programs;
  for (std::int64_t attempt = 1; attempt <= attempts; ++attempt) {
    const Result<std::string> text = next_text(bench, *spec, programs, round);
    if (!text) return fail(text.error());
    const Result<CompletionReply> reply = bench.ask(*system, *text);
    if (!reply) return fail(reply.error());
    const Result<std::string> code = candidate_in(reply->text, *spec, programs, round.diff);
    round.complaint = code ? "" : code.error().message;
    if (!code) {
      if (Status noted = bench.note(round.complaint); !noted) return fail(noted.error());
      continue;
    }
    const Result<Evaluation> evaluation = bench.evaluate(*code);
    if (!evaluation) return fail(evaluation.error());
    programs.push_back({*code, *evaluation});
    if (!is_worth_more_work(*evaluation)) {
      if (Status remarked = bench.remark(why_no_more_work(*evaluation)); !remarked) return fail(remarked.error());
      break;
    }
  }
  return bench.submit(programs.empty() ? "" : best_of(programs).code, "none of " + std::to_string(attempts) + " replies holds code");
}

}  // namespace assay::agents
