// Implements `assay runs`, which lists the runs of a store, newest first.
#include <cstdint>
#include <cstdio>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/json.h"
#include "base/rfc3339.h"
#include "base/text.h"
#include "server/app/exit_status.h"
#include "server/app/report_source.h"
#include "server/app/workspace.h"
#include "server/commands/commands.h"
#include "server/report/model/format.h"
#include "tools/answer/answers.h"

namespace assay::server {
namespace {

constexpr const char* kRuns = "runs";
constexpr std::int64_t kDefaultRuns = 30;
constexpr std::size_t kNameCharacters = 40;

struct RunsOptions {
  std::string store, suite;
  std::int64_t limit = kDefaultRuns;  // 0: all
  bool json = false;
};

/// What a line of the list says about a run.
struct RunLine {
  std::string handle, created, agent, model, track, devices, state;
  SuiteId suite_id;
  std::int64_t submitted = 0, passed = 0, operators = 0;
  double pass_at_1 = 0;
};

/// Returns "complete" if every operator has a verdict, "open" if the run still accepts calls, and
/// "over" if its time has passed before it was complete.
std::string state_of(const tools::Scorecard& card, std::int64_t now_unix_ms) {
  std::size_t judged = 0;
  for (const tools::OperatorScore& score : card.operators) judged += score.verdict ? 1 : 0;
  if (judged == card.operators.size()) return "complete";
  return now_unix_ms < card.run.expires_unix_ms ? "open" : "over";
}

RunLine line_of(const tools::Scorecard& card, std::int64_t now_unix_ms) {
  std::set<std::string> devices;
  for (const tools::OperatorScore& score : card.operators) {
    if (score.verdict) devices.insert(score.verdict->provenance.device);
  }
  RunLine line;
  line.handle = card.run.handle;
  line.created = iso_time(card.run.created_unix_ms);
  line.agent = card.run.request.agent;
  line.model = card.run.request.model;
  line.track = std::string(tools::to_string(card.run.request.track));
  line.devices = join(devices);
  line.suite_id = card.run.suite_id;
  line.state = state_of(card, now_unix_ms);
  line.submitted = card.submitted;
  line.passed = card.passed;
  line.operators = static_cast<std::int64_t>(card.operators.size());
  line.pass_at_1 = card.pass_at_1;
  return line;
}

std::string as_table(const std::vector<RunLine>& lines) {
  std::vector<report::TextRow> rows = {{"run", "started (UTC)", "agent", "model", "track", "device",
                                        "suite", "attempts", "pass@1", "state"}};
  for (const RunLine& line : lines)
    rows.push_back({line.handle, line.created.substr(0, 19),
                    report::printable_line(line.agent, kNameCharacters),
                    report::printable_line(line.model, kNameCharacters), line.track,
                    line.devices.empty() ? "-" : line.devices, text_of(line.suite_id),
                    std::to_string(line.submitted) + " of " + std::to_string(line.operators),
                    report::number(100 * line.pass_at_1, "%.1f %%"), line.state});
  return report::text_table(rows);
}

std::string as_json(const std::vector<RunLine>& lines, std::size_t known) {
  nlohmann::ordered_json root = {{"known", known}, {"runs", nlohmann::ordered_json::array()}};
  for (const RunLine& line : lines)
    root["runs"].push_back({{"run", line.handle},
                            {"started", line.created},
                            {"agent", line.agent},
                            {"model", line.model},
                            {"track", line.track},
                            {"suite_id", tools::suite_json(line.suite_id)},
                            {"devices", split(line.devices, ", ")},
                            {"operators", line.operators},
                            {"submitted", line.submitted},
                            {"passed", line.passed},
                            {"pass_at_1", line.pass_at_1},
                            {"state", line.state}});
  return root.dump(2) + "\n";
}

int list(const RunsOptions& options) {
  int status = kPass;
  const std::optional<Workspace> workspace = open_workspace(kRuns, status, options.suite);
  if (!workspace) return status;
  const std::filesystem::path store = options.store.empty() ? workspace->paths.default_store()
                                                            : std::filesystem::path(options.store);
  const Result<std::vector<tools::RunInfo>> known = list_runs(store, workspace->catalog);
  if (!known)
    return print_error(kRuns, status_of_report_error(known.error()), known.error().message);
  std::vector<std::string> handles;
  for (const tools::RunInfo& run : *known) {
    if (options.limit > 0 && handles.size() >= static_cast<std::size_t>(options.limit)) break;
    handles.push_back(run.handle);
  }
  std::vector<RunLine> lines;
  if (!handles.empty()) {
    const Result<std::vector<tools::Scorecard>> cards =
        read_runs(store, workspace->catalog, handles);
    if (!cards)
      return print_error(kRuns, status_of_report_error(cards.error()), cards.error().message);
    for (const tools::Scorecard& card : *cards)
      lines.push_back(line_of(card, system_clock().unix_ms()));
  }
  std::fputs((options.json ? as_json(lines, known->size()) : as_table(lines)).c_str(), stdout);
  if (!options.json && lines.size() < known->size())
    std::printf("%zu of %zu runs; --limit 0 lists all\n", lines.size(), known->size());
  return kPass;
}

}  // namespace

void add_runs(CLI::App& app, int& status) {
  auto options = std::make_shared<RunsOptions>();
  CLI::App* command = app.add_subcommand("runs", "List the runs of a store, newest first");
  command->add_option("--store", options->store, "the store (default: the user's)");
  command->add_option("--suite", options->suite, kSuiteOfStoreHelp);
  command->add_option("--limit", options->limit, "the largest number of runs; 0: all")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str();
  command->add_flag("--json", options->json, "print JSON");
  command->callback([options, &status] { status = list(*options); });
}

}  // namespace assay::server
