// `assay report`: what a run scored, or several that are samples of one configuration, from the store.
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "server/cli/commands.h"
#include "server/cli/common.h"
#include "server/cli/report_formats.h"
#include "server/cli/report_similarity.h"
#include "server/cli/report_source.h"

namespace assay::server {
namespace {

constexpr const char* kCommand = "report";

struct ReportOptions {
  std::string format = "table";
  std::vector<std::string> runs;
  std::string store;
  bool codebleu = false;
};

Status compare_with_oracles(Report& report, const std::filesystem::path& store, const Workspace& workspace) {
  const auto sources = read_sources(store, workspace.catalog, report);
  if (!sources) return fail(sources.error());
  return add_similarity(report, *sources, workspace.catalog, workspace.paths);
}

int run_report(const ReportOptions& options) {
  const std::optional<ReportFormat> format = report_format_from(options.format);
  if (!format) return complain(kCommand, kUsage, "unknown format '" + options.format + "'; valid: table, json, csv, html");
  int status = kPass;
  const std::optional<Workspace> workspace = open_workspace(kCommand, status);
  if (!workspace) return status;
  const std::filesystem::path store = options.store.empty() ? workspace->paths.default_store() : std::filesystem::path(options.store);
  Result<Report> report = read_report(store, workspace->catalog, options.runs);
  if (!report) return complain(kCommand, status_of_report_error(report.error()), report.error().message);
  if (options.codebleu) {
    if (Status done = compare_with_oracles(*report, store, *workspace); !done) return complain(kCommand, kUnavailable, done.error().message);
  }
  const std::string text = format_report(*report, *format);
  if (std::fwrite(text.data(), 1, text.size(), stdout) != text.size() || std::fflush(stdout) != 0)
    return complain(kCommand, kUnavailable, "cannot write to standard output");
  return kPass;
}

}  // namespace

void add_report(CLI::App& app, int& status) {
  auto options = std::make_shared<ReportOptions>();
  CLI::App* command = app.add_subcommand("report", "Show what a run scored");
  command->add_option("--format", options->format, "table, json, csv or html")->capture_default_str();
  command->add_option("--run", options->runs, "a run's handle (default: the newest run); repeat it for the samples of one agent and model: pass@k is over them")
      ->allow_extra_args(false);
  command->add_flag("--codebleu", options->codebleu, "compare each submission's text with the oracle's");
  command->add_option("--store", options->store, "the store that holds the run (default: the user's)");
  command->callback([options, &status] { status = run_report(*options); });
}

}  // namespace assay::server
