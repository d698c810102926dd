// Implements `assay report`, which reads the results of runs from the store and shows them. Several
// runs of one agent and model are combined in one report, each as a sample. Other runs are
// compared.
#include <cstdint>
#include <cstdio>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/text.h"
#include "server/app/exit_status.h"
#include "server/app/report_source.h"
#include "server/app/workspace.h"
#include "server/bench/journal.h"
#include "server/bench/status.h"
#include "server/commands/commands.h"
#include "server/report/model/compare.h"
#include "server/report/model/format.h"
#include "server/report/text/forms.h"
#include "server/site/bundle.h"
#include "server/site/write_data.h"

namespace assay::server {
namespace {

using report::Comparison;
using report::Report;

constexpr const char* kReport = "report";

enum class ReportFormat { table, json, csv, html };

struct ReportOptions {
  std::string format = "table";
  std::vector<std::string> runs;
  std::string bench;  // the --out of a bench
  bool all = false;
  std::string store, suite;
  bool codebleu = false;
};

Status compare_with_oracles(Report& report, const std::filesystem::path& store,
                            const Workspace& workspace) {
  const auto sources = read_sources(store, workspace.catalog, report);
  if (!sources) return fail(sources.error());
  return add_similarity(report, *sources, workspace.catalog, workspace.paths);
}

std::optional<ReportFormat> report_format_from(const std::string& text) {
  if (text == "table") return ReportFormat::table;
  if (text == "json") return ReportFormat::json;
  if (text == "csv") return ReportFormat::csv;
  if (text == "html") return ReportFormat::html;
  return std::nullopt;
}

std::string format_report(const Report& report, ReportFormat format) {
  switch (format) {
    case ReportFormat::table:
    case ReportFormat::html: break;
    case ReportFormat::json: return report::report_as_json(report);
    case ReportFormat::csv: return report::report_as_csv(report);
  }
  return report::report_as_table(report);
}

std::string format_comparison(const Comparison& comparison, ReportFormat format) {
  switch (format) {
    case ReportFormat::table:
    case ReportFormat::html: break;
    case ReportFormat::json: return report::comparison_as_json(comparison);
    case ReportFormat::csv: return report::comparison_as_csv(comparison);
  }
  std::vector<report::ComparisonRow> rows;
  for (const Report& report : comparison.reports) rows.push_back(report::comparison_of(report));
  return report::comparison_table(rows);
}

int print(const std::string& text) {
  if (std::fwrite(text.data(), 1, text.size(), stdout) != text.size() || std::fflush(stdout) != 0)
    return print_error(kReport, kUnavailable, "cannot write to standard output");
  return kPass;
}

/// Sets the labels of attempts without a submission in the report of a bench.
Status explain_from_journals(Report& report, const std::string& directory) {
  ASSAY_TRY(benches, bench::find_benches(directory));
  std::map<std::pair<std::int64_t, std::string>, report::NoSubmission> why;
  for (const bench::RecordedBench& recorded : benches) {
    const auto missing = bench::missing_in(recorded.journal);
    for (std::size_t i = 0; i < report.samples.size(); ++i) {
      for (const auto& [sample, run] : recorded.journal.runs) {
        if (run.run != report.samples[i]) continue;
        for (const auto& [which, end] : missing) {
          if (which.first == sample) why[{static_cast<std::int64_t>(i) + 1, which.second}] = end;
        }
      }
    }
  }
  report::explain_missing(report, why);
  return {};
}

constexpr std::size_t kTitleCharacters = 60;

std::string title_of(const Report& report) {
  return report::printable_line(report.run.request.agent, kTitleCharacters) + ", " +
         report::printable_line(report.run.request.model, kTitleCharacters);
}

/// Prints the page of the runs: the pages of `assay site` in one file. The labels of a bench and
/// CodeBLEU are added to the report of each configuration.
int print_page(const std::vector<tools::Scorecard>& runs, const std::string& title,
               const ReportOptions& options, const std::filesystem::path& store,
               const Workspace& workspace) {
  const Result<site::Bundle> bundle = site::find_bundle(workspace.paths.root);
  if (!bundle) return print_error(kReport, kUnavailable, bundle.error().message);
  std::vector<std::string> handles;
  for (const tools::Scorecard& card : runs) handles.push_back(card.run.handle);
  const site::DataStore source{store, std::move(handles)};
  site::DataOptions data;
  data.title = title;
  data.assay = ASSAY_VERSION;
  data.written_unix_ms = system_clock().unix_ms();
  data.amend = [&](Report& report) -> Status {
    if (!options.bench.empty()) ASSAY_RETURN_IF_ERROR(explain_from_journals(report, options.bench));
    return options.codebleu ? compare_with_oracles(report, store, workspace) : Status();
  };
  const Result<std::string> page = site::page_of(*bundle, data, source, workspace.catalog);
  if (!page)
    return print_error(kReport, status_of_report_error(page.error()), page.error().message);
  return print(*page);
}

/// Sets where the runs of the reports were imported from. A form that has no place for it, such as
/// CSV, is accompanied by a line on stderr.
Status note_imported_runs(std::vector<Report*> reports, const std::filesystem::path& store,
                          const operators::Catalog& catalog) {
  ASSAY_TRY(services, open_store_to_read(store, catalog));
  for (Report* report : reports) {
    for (const std::string& run : report->samples) {
      ASSAY_TRY(provenance, services->store().provenance(run));
      if (provenance.empty()) continue;
      stderr_line("the verdicts of " + run +
                  " were imported from a file: " + escape_line(provenance));
      report->imported.emplace(run, std::move(provenance));
    }
  }
  return {};
}

int run_comparison(const std::vector<tools::Scorecard>& runs, ReportFormat format,
                   const ReportOptions& options, const std::filesystem::path& store,
                   const Workspace& workspace) {
  Result<Comparison> comparison = report::make_comparison(runs, &workspace.catalog);
  if (!comparison)
    return print_error(kReport, status_of_report_error(comparison.error()),
                       comparison.error().message);
  std::vector<Report*> reports;
  for (Report& report : comparison->reports) reports.push_back(&report);
  if (const Status noted = note_imported_runs(reports, store, workspace.catalog); !noted)
    return print_error(kReport, status_of_report_error(noted.error()), noted.error().message);
  if (format == ReportFormat::html)
    return print_page(runs,
                      std::to_string(comparison->reports.size()) + " agents or models compared",
                      options, store, workspace);
  for (Report& report : comparison->reports) {
    if (options.bench.empty()) break;
    if (const Status done = explain_from_journals(report, options.bench); !done)
      return print_error(kReport, kBadData, done.error().message);
  }
  if (options.codebleu) {
    for (Report& report : comparison->reports) {
      if (Status done = compare_with_oracles(report, store, workspace); !done)
        return print_error(kReport, kUnavailable, done.error().message);
    }
  }
  return print(format_comparison(*comparison, format));
}

/// Returns the handles of the runs of all benches in `directory`, by bench and sample.
Result<std::vector<std::string>> runs_of_bench(const std::string& directory) {
  ASSAY_TRY(benches, bench::find_benches(directory));
  std::vector<std::string> handles;
  for (const bench::RecordedBench& recorded : benches) {
    for (const auto& [sample, run] : recorded.journal.runs) handles.push_back(run.run);
  }
  if (handles.empty())
    return fail(ErrorCode::not_found, "the bench in " + directory + " has not started a run");
  return handles;
}

/// Returns the handles of all runs that have the operators of the newest run, oldest first. Says on
/// stderr how many runs are left out.
Result<std::vector<std::string>> runs_like_the_newest(const std::filesystem::path& store,
                                                      const operators::Catalog& catalog) {
  ASSAY_TRY(known, list_runs(store, catalog));
  std::vector<std::string> handles;
  for (auto run = known.rbegin(); run != known.rend(); ++run) {
    if (report::have_same_operators(*run, known.front())) handles.push_back(run->handle);
  }
  if (handles.size() < known.size())
    stderr_line("left out: " + std::to_string(known.size() - handles.size()) + " of " +
                std::to_string(known.size()) +
                " runs, because their operators are not those of the newest run; `assay runs` "
                "lists them");
  return handles;
}

/// Returns the handles of the runs that the options name. Empty: the newest run.
Result<std::vector<std::string>> chosen_runs(const ReportOptions& options,
                                             const std::filesystem::path& store,
                                             const operators::Catalog& catalog) {
  if (!options.bench.empty()) return runs_of_bench(options.bench);
  if (options.all) return runs_like_the_newest(store, catalog);
  return options.runs;
}

/// Says on stderr that the operators' families and difficulties may be unknown, if a run is from
/// another suite than the catalog.
void note_other_suites(const std::vector<tools::Scorecard>& runs,
                       const operators::Catalog& catalog) {
  for (const tools::Scorecard& card : runs) {
    const SuiteId& suite = card.run.suite_id;
    if (suite.digest.empty() || suite.digest == catalog.suite().digest) continue;
    stderr_line(card.run.handle + " is of the suite " + text_of(suite) +
                ", and the operators here are those of " + text_of(catalog.suite()) +
                ": families and difficulties may be missing. --suite DIR names the suite's folder");
    return;
  }
}

int run_report(const ReportOptions& options) {
  const std::optional<ReportFormat> format = report_format_from(options.format);
  if (!format)
    return print_error(kReport, kUsage,
                       "unknown format '" + options.format + "'; valid: table, json, csv, html");
  int status = kPass;
  const std::optional<Workspace> workspace = open_workspace(kReport, status, options.suite);
  if (!workspace) return status;
  const std::filesystem::path store = options.store.empty() ? workspace->paths.default_store()
                                                            : std::filesystem::path(options.store);
  const Result<std::vector<std::string>> handles = chosen_runs(options, store, workspace->catalog);
  if (!handles)
    return print_error(kReport,
                       handles.error().code == ErrorCode::corrupt && !options.bench.empty()
                           ? kBadData
                           : status_of_report_error(handles.error()),
                       handles.error().message);
  const Result<std::vector<tools::Scorecard>> runs = read_runs(store, workspace->catalog, *handles);
  if (!runs)
    return print_error(kReport, status_of_report_error(runs.error()), runs.error().message);
  note_other_suites(*runs, workspace->catalog);
  if (!report::is_one_configuration(*runs))
    return run_comparison(*runs, *format, options, store, *workspace);
  Result<Report> report = report::make_report(*runs, &workspace->catalog);
  if (!report)
    return print_error(kReport, status_of_report_error(report.error()), report.error().message);
  if (const Status noted = note_imported_runs({&*report}, store, workspace->catalog); !noted)
    return print_error(kReport, status_of_report_error(noted.error()), noted.error().message);
  if (*format == ReportFormat::html)
    return print_page(*runs, title_of(*report), options, store, *workspace);
  if (!options.bench.empty()) {
    if (const Status done = explain_from_journals(*report, options.bench); !done)
      return print_error(kReport, kBadData, done.error().message);
  }
  if (options.codebleu) {
    if (Status done = compare_with_oracles(*report, store, *workspace); !done)
      return print_error(kReport, kUnavailable, done.error().message);
  }
  return print(format_report(*report, *format));
}

}  // namespace

void add_report(CLI::App& app, int& status) {
  auto options = std::make_shared<ReportOptions>();
  CLI::App* command = app.add_subcommand("report", "Show what a run scored");
  command->add_option("--format", options->format, "table, json, csv or html")
      ->capture_default_str();
  auto* run = command->add_option(
      "--run", options->runs,
      "the handle of a run (default: the newest run); repeat it for more samples of "
      "one agent and model, or to compare several");
  run->allow_extra_args(false);
  auto* bench = command->add_option("--bench", options->bench,
                                    "the runs of the bench in this folder, its --out");
  auto* all = command->add_flag("--all", options->all,
                                "all runs that have the operators of the newest run");
  bench->excludes(run);
  all->excludes(run)->excludes(bench);
  command->add_flag("--codebleu", options->codebleu,
                    "compare each submission's text with the oracle's");
  command->add_option("--store", options->store,
                      "the store that holds the run (default: the user's)");
  command->add_option("--suite", options->suite, kSuiteOfStoreHelp);
  command->callback([options, &status] { status = run_report(*options); });
}

}  // namespace assay::server
