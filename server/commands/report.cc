// Implements `assay report`, which reads the results of runs from the store and shows them. Several
// runs of one agent and model are combined in one report, each as a sample. Other runs are
// compared.
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "server/app/exit_status.h"
#include "server/app/report_source.h"
#include "server/app/workspace.h"
#include "server/commands/commands.h"
#include "server/report/html/page.h"
#include "server/report/model/compare.h"
#include "server/report/text/forms.h"

namespace assay::server {
namespace {

using report::Comparison;
using report::Report;

constexpr const char* kReport = "report";

enum class ReportFormat { table, json, csv, html };

struct ReportOptions {
  std::string format = "table";
  std::vector<std::string> runs;
  std::string store;
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
    case ReportFormat::table: break;
    case ReportFormat::json: return report::report_as_json(report);
    case ReportFormat::csv: return report::report_as_csv(report);
    case ReportFormat::html: return report::report_as_html(report);
  }
  return report::report_as_table(report);
}

std::string format_comparison(const Comparison& comparison, ReportFormat format) {
  switch (format) {
    case ReportFormat::table: break;
    case ReportFormat::json: return report::comparison_as_json(comparison);
    case ReportFormat::csv: return report::comparison_as_csv(comparison);
    case ReportFormat::html: return report::comparison_as_html(comparison);
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

int run_comparison(const std::vector<tools::Scorecard>& runs, ReportFormat format,
                   const ReportOptions& options, const std::filesystem::path& store,
                   const Workspace& workspace) {
  Result<Comparison> comparison = report::make_comparison(runs, &workspace.catalog);
  if (!comparison)
    return print_error(kReport, status_of_report_error(comparison.error()),
                       comparison.error().message);
  if (options.codebleu) {
    for (Report& report : comparison->reports) {
      if (Status done = compare_with_oracles(report, store, workspace); !done)
        return print_error(kReport, kUnavailable, done.error().message);
    }
  }
  return print(format_comparison(*comparison, format));
}

int run_report(const ReportOptions& options) {
  const std::optional<ReportFormat> format = report_format_from(options.format);
  if (!format)
    return print_error(kReport, kUsage,
                       "unknown format '" + options.format + "'; valid: table, json, csv, html");
  int status = kPass;
  const std::optional<Workspace> workspace = open_workspace(kReport, status);
  if (!workspace) return status;
  const std::filesystem::path store = options.store.empty() ? workspace->paths.default_store()
                                                            : std::filesystem::path(options.store);
  const Result<std::vector<tools::Scorecard>> runs =
      read_runs(store, workspace->catalog, options.runs);
  if (!runs)
    return print_error(kReport, status_of_report_error(runs.error()), runs.error().message);
  if (!report::is_one_configuration(*runs))
    return run_comparison(*runs, *format, options, store, *workspace);
  Result<Report> report = report::make_report(*runs, &workspace->catalog);
  if (!report)
    return print_error(kReport, status_of_report_error(report.error()), report.error().message);
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
  command
      ->add_option("--run", options->runs,
                   "the handle of a run (default: the newest run); repeat it for more samples of "
                   "one agent and model, or to compare several")
      ->allow_extra_args(false);
  command->add_flag("--codebleu", options->codebleu,
                    "compare each submission's text with the oracle's");
  command->add_option("--store", options->store,
                      "the store that holds the run (default: the user's)");
  command->callback([options, &status] { status = run_report(*options); });
}

}  // namespace assay::server
