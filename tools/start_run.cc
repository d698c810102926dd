#include <cstdint>

#include "tools/call/arguments.h"
#include "tools/call/principal_of.h"
#include "tools/call/schema_parts.h"
#include "tools/model/tracks.h"
#include "tools/registry.h"

namespace assay::tools {
namespace {

using nlohmann::json;

constexpr std::size_t kNamedOperators = 24;

struct StartRunArguments {
  std::string agent, model;
  Track track = Track::practice;
  std::string suite = "all";
  std::string call_id;

  static std::vector<std::string> tracks() {
    std::vector<std::string> names;
    for (const TrackRules& rules : kTracks) names.emplace_back(rules.name);
    return names;
  }
  static json schema() {
    json suite = text_property(
        "\"all\", a split (standard, ood, dsl), or a comma-separated list of operators", 16'384);
    suite["default"] = "all";
    return input_object(
        {{"agent", text_property("Your name, for the scorecard", 0)},
         {"model", text_property("The model that you use, e.g. anthropic:claude-sonnet", 0)},
         {"track", choice_property("The rules of the run", tracks(), "practice")},
         {"suite", std::move(suite)},
         {"call_id", call_id_property()}},
        {"agent", "model"});
  }
  static Result<StartRunArguments> parse(const json& arguments) {
    StartRunArguments parsed;
    ArgumentReader reader(arguments);
    reader.read("agent", parsed.agent);
    reader.read("model", parsed.model);
    reader.read_name("track", parsed.track, track_from, tracks());
    reader.read("suite", parsed.suite);
    reader.read("call_id", parsed.call_id);
    return reader.result(std::move(parsed));
  }
};

std::string limit_text(std::int64_t limit) {
  return limit < 0 ? "unlimited" : std::to_string(limit);
}

mcp::ToolResult answer_of(const RunInfo& run, const AnswerLimits& limits) {
  const Budgets& budgets = run.budgets;
  const std::int64_t hours = (run.expires_unix_ms - run.created_unix_ms) / 3'600'000;
  const std::string next =
      "For each operator: `fetch_spec`, write the kernel, `run_tests` and `submit` with this run, "
      "then `report_usage` and `scorecard`.";
  mcp::ToolResult answer;
  answer.text = "ok: run " + run.handle + "\n" + std::string(to_string(run.request.track)) +
                " track (" + std::string(rules_of(run.request.track).rule) + "), " +
                count_text(static_cast<std::int64_t>(run.operators.size()), "operator") +
                ", valid for " + std::to_string(hours) + " h\nsuite " +
                text_of(without_digest(run.suite_id)) + "\nper operator: compile " +
                limit_text(budgets.compiles) + ", run_tests " + limit_text(budgets.tests) +
                ", profile " + limit_text(budgets.profiles) + ", submit " +
                limit_text(budgets.submissions) + "\noperators:";
  // The text names the operators only if there are at most kNamedOperators, so that it stays short.
  // `structured` contains the names.
  if (run.operators.size() > kNamedOperators) answer.text += " `scorecard` names them";
  for (const std::string& name : run.operators)
    answer.text += run.operators.size() > kNamedOperators ? "" : " " + name;
  answer.text += "\nnext: " + next;
  answer.structured = {{"status", "ok"},
                       {"run", run.handle},
                       {"track", to_string(run.request.track)},
                       {"suite_id", suite_json(without_digest(run.suite_id))},
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
  // The client works through this list of operators, so it is never cut to the concise size.
  return fit_answer(std::move(answer), max_chars(limits, Format::detailed));
}

mcp::ToolResult start_run(const Services& services, const StartRunArguments& arguments,
                          const mcp::RequestContext& context) {
  const auto run = services.runs.start(principal_of(context), {.agent = arguments.agent,
                                                               .model = arguments.model,
                                                               .track = arguments.track,
                                                               .suite = arguments.suite,
                                                               .call_id = arguments.call_id});
  return run ? answer_of(*run, services.limits) : error_answer(run.error());
}

}  // namespace

mcp::Tool start_run_tool(const Services& services) {
  mcp::Tool tool;
  tool.name = "start_run";
  tool.title = "Start a scored run";
  tool.description =
      "Starts a run and returns its handle, which the other tools take. Tracks, with "
      "compiles/tests/profiles per operator and the "
      "duration of a run: " +
      tracks_text() + ". practice is not scored; one_shot takes one source per operator.";
  tool.input_schema = StartRunArguments::schema();
  const json number = {{"type", "integer"}};
  const json text = {{"type", "string"}};
  tool.output_schema = output_object({{"run", text},
                                      {"track", text},
                                      {"suite_id", suite_schema()},
                                      {"operators", array_of(text)},
                                      {"budgets",
                                       {{"type", "object"},
                                        {"additionalProperties", number},
                                        {"description", "For each operator; -1 is unlimited"}}},
                                      {"created_unix_ms", number},
                                      {"expires_unix_ms", number},
                                      {"next", text}});
  tool.listed_output_schema = outline_of(tool.output_schema, {"run", "operators", "budgets"});
  tool.annotations = annotations_of({});
  set_quick_handler<StartRunArguments>(
      tool, [&services](const StartRunArguments& arguments, const mcp::RequestContext& context) {
        return start_run(services, arguments, context);
      });
  return tool;
}

}  // namespace assay::tools
