#include "reference_agents/alphaevolve/alphaevolve.h"

#include <cstddef>
#include <string>
#include <utility>

#include "reference_agents/alphaevolve/database.h"
#include "reference_agents/core/evaluation.h"
#include "reference_agents/core/reply_code.h"
#include "reference_agents/core/seeded_rng.h"

namespace assay::agents {
namespace {

std::size_t whole(const NumberValues& options, const char* name) {
  return static_cast<std::size_t>(options.at(name));
}

/// The contents of one prompt: programs of the database, and a complaint about the last reply.
struct Start {
  std::vector<Program> parent;  // one program; empty if the island has no program yet
  std::vector<Program> others;
  std::string complaint;  // why the island's last reply was unusable; empty if it was usable
};

std::string others_text(const std::vector<Program>& others) {
  std::string text;
  for (const Program& program : others) {
    text += "A version that was tried (" + metrics_text(program.evaluation) + "):\n\n```python\n" +
            program.code + "```\n\nThe server said: " + program.evaluation.feedback + "\n\n";
  }
  return text.empty() ? "No other version was tried yet.\n" : text;
}

struct Mode {
  bool diff = false, archive = false;
};

Result<std::string> prompt_text(AgentSession& session, const Spec& spec, const Start& start,
                                const Mode& mode) {
  PromptValues values = {{"operator", spec.operator_name}, {"spec", spec.text}};
  values["complaint"] =
      start.complaint.empty() ? "" : "Your last reply could not be used: " + start.complaint + "\n";
  if (start.parent.empty()) return session.prompt("alphaevolve/prompts/first.md", values);
  const Program& parent = start.parent.front();
  values["others"] = others_text(start.others);
  values["which"] = mode.archive ? "The version to improve" : "The best version so far";
  values["code"] = parent.code;
  values["metrics"] = metrics_text(parent.evaluation);
  values["verdict"] = parent.evaluation.feedback;
  return session.prompt(mode.diff ? "alphaevolve/prompts/diff.md" : "alphaevolve/prompts/next.md",
                        values);
}

/// Returns the program that the reply describes. If the reply describes no program, the Error has a
/// message for the model.
Result<std::string> candidate_in(AgentSession& session, const CompletionReply& reply,
                                 const Spec& spec, const Start& start, bool diff) {
  if (!diff || start.parent.empty()) {
    std::string code = code_of(reply, spec.entry);
    if (code.empty()) return fail(ErrorCode::invalid_argument, why_no_code(reply));
    return code;
  }
  return session.edited(start.parent.front().code, reply.text);
}

}  // namespace

const std::vector<NumberOption>& alphaevolve_options() {
  static const std::vector<NumberOption> list = {
      {"attempts", 5, 1, 20,
       "number of replies; each can cost one of the track's 20 compilations and 10 tests", true},
      {"others", 2, 0, 8, "earlier versions that a prompt shows beside the parent", true},
      {"diff", 0, 0, 1,
       "1: after an island's first version, replies are edits of the parent, not whole modules",
       true},
      {"islands", 1, 1, 8, "populations that evolve independently and take turns", true},
      {"migrate", 4, 0, 20,
       "attempts after which each island's best is copied to the next island; 0: never", true},
      {"archive", 0, 0, 1, "1: parents and others come from a MAP-Elites archive of each island",
       true},
      {"min_perf", 0, 0, 10,
       "a correct version slower than this (oracle / own time) is no parent if there is a faster "
       "one",
       false},
  };
  return list;
}

Result<Attempt> attempt_alphaevolve(AgentSession& session, const NumberValues& options) {
  const Result<Spec> spec = session.fetch_spec();
  if (!spec) return fail(spec.error());
  const Result<std::string> system = session.prompt("alphaevolve/prompts/system.md", {});
  if (!system) return fail(system.error());
  const std::size_t attempts = whole(options, "attempts"), islands = whole(options, "islands"),
                    migrate = whole(options, "migrate");
  const Mode mode{options.at("diff") > 0, options.at("archive") > 0};
  Database database({islands, mode.archive, options.at("min_perf")},
                    SeededRng(0, session.identity()));
  std::vector<std::string> complaints(islands);
  for (std::size_t attempt = 1; attempt <= attempts; ++attempt) {
    const std::size_t island = (attempt - 1) % islands;
    Start start;
    start.complaint = std::exchange(complaints[island], "");
    if (!database.empty(island)) {
      start.parent.push_back(database.parent(island));
      start.others = database.others(island, start.parent.front(), whole(options, "others"));
    }
    const Result<std::string> text = prompt_text(session, *spec, start, mode);
    if (!text) return fail(text.error());
    const Result<CompletionReply> reply = session.ask(*system, *text);
    if (!reply) return fail(reply.error());
    if (const Result<std::string> code = candidate_in(session, *reply, *spec, start, mode.diff);
        !code) {
      complaints[island] = code.error().message;
      if (Status noted = session.note(complaints[island]); !noted) return fail(noted.error());
    } else {
      const Result<Evaluation> evaluation = session.evaluate(*code);
      if (!evaluation) return fail(evaluation.error());
      database.add(island, {*code, *evaluation});
      if (!is_worth_more_work(*evaluation)) {
        if (Status remarked = session.remark(why_no_more_work(*evaluation)); !remarked)
          return fail(remarked.error());
        break;
      }
    }
    if (migrate > 0 && attempt % migrate == 0) database.migrate();
  }
  return session.submit(database.empty() ? "" : database.best().code,
                        "none of " + std::to_string(attempts) + " replies holds code");
}

}  // namespace assay::agents
