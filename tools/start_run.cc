#include <cstdint>

#include "tools/answer/answers.h"
#include "tools/call/schema_parts.h"
#include "tools/model/tracks.h"
#include "tools/registry.h"

namespace assay::tools {
namespace {

using nlohmann::json;

constexpr std::size_t kNamedOperators = 24;

std::string limit_text(std::int64_t limit) {
  return limit < 0 ? "unlimited" : std::to_string(limit);
}

Answer answer_of(const RunInfo& run, const AnswerLimits& limits) {
  const Budgets& budgets = run.budgets;
  const std::int64_t hours = (run.expires_unix_ms - run.created_unix_ms) / 3'600'000;
  const std::string next =
      "For each operator: `fetch_spec`, write the kernel, `run_tests` and `submit` with this run, "
      "then `report_usage` and `scorecard`.";
  Answer answer;
  answer.text = "ok: run " + run.handle + "\n" + std::string(to_string(run.request.track)) +
                " track (" + std::string(rules_of(run.request.track).rule) + "), " +
                count_text(static_cast<std::int64_t>(run.operators.size()), "operator") +
                ", good for " + std::to_string(hours) + " h\nper operator: compile " +
                limit_text(budgets.compiles) + ", run_tests " + limit_text(budgets.tests) +
                ", profile " + limit_text(budgets.profiles) + ", submit " +
                limit_text(budgets.submissions) + "\noperators:";
  // Who asked for many asked for a split, or for all.
  if (run.operators.size() > kNamedOperators) answer.text += " `list_operators` names them";
  for (const std::string& name : run.operators)
    answer.text += run.operators.size() > kNamedOperators ? "" : " " + name;
  answer.text += "\nnext: " + next;
  answer.structured = {{"status", "ok"},
                       {"run", run.handle},
                       {"track", to_string(run.request.track)},
                       {"operators", run.operators},
                       {"budgets",
                        {{"compiles", budgets.compiles},
                         {"tests", budgets.tests},
                         {"profiles", budgets.profiles},
                         {"submissions", budgets.submissions},
                         {"run_wall_s", budgets.run_wall_s}}},
                       {"created_unix_ms", run.created_unix_ms},
                       {"expires_unix_ms", run.expires_unix_ms},
                       {"next", next}};
  // The suite is what the client works through: it is never cut to the concise size.
  return fitted(std::move(answer), cap_of(limits, Format::detailed));
}

}  // namespace

Tool start_run_tool(Services& services) {
  Tool tool;
  tool.name = "start_run";
  tool.title = "Start a scored run";
  tool.description =
      "Opens a run and answers its handle, which run_tests, profile, submit, report_usage and "
      "scorecard take. Tracks, with compiles/tests/profiles "
      "per operator and how long a run is good for: " +
      tracks_text() + ". practice is not scored; one_shot takes one source per operator.";
  json suite = text_property(
      "\"all\", a split (standard, ood, dsl), or a comma-separated list of operators", 16'384);
  suite["default"] = "all";
  std::vector<std::string> choices;
  for (const TrackRules& rules : kTracks) choices.emplace_back(rules.name);
  tool.input_schema =
      input_object({{"agent", text_property("Your name, as the scorecard shows it")},
                    {"model", text_property("The model behind it, e.g. anthropic:claude-sonnet")},
                    {"track", choice_property("The rules", choices, "practice")},
                    {"suite", std::move(suite)}},
                   {"agent", "model"});
  const json number = {{"type", "integer"}};
  const json text = {{"type", "string"}};
  tool.output_schema = output_object({{"run", text},
                                      {"track", text},
                                      {"operators", array_of(text)},
                                      {"budgets",
                                       {{"type", "object"},
                                        {"additionalProperties", number},
                                        {"description", "per operator; -1 is unlimited"}}},
                                      {"created_unix_ms", number},
                                      {"expires_unix_ms", number},
                                      {"next", text}});
  tool.run = [&services](const json& arguments, const CallContext& context) {
    RunRequest request;
    request.agent = text_argument(arguments, "agent");
    request.model = text_argument(arguments, "model");
    const std::string track = text_argument(arguments, "track");
    if (!track.empty()) {
      const auto known = track_from(track);
      if (!known)
        return error_answer({ErrorCode::invalid_argument,
                             "unknown track '" + track + "'; valid: " + track_names()});
      request.track = *known;
    }
    if (request.track != Track::practice && !context.allows(kScopeScore)) {
      return error_answer(
          {ErrorCode::permission_denied, "your token lacks the scope 'score', which the " + track +
                                             " track needs; start a run of the practice track, or "
                                             "ask the operator of this server for another token"});
    }
    if (arguments.contains("suite")) request.suite = text_argument(arguments, "suite");
    const auto run = services.runs.start(request);
    return run ? answer_of(*run, services.limits) : error_answer(run.error());
  };
  return tool;
}

}  // namespace assay::tools
