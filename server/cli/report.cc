// `assay report`: what a run scored, from the store.
#include <cstdio>
#include <memory>
#include <string>

#include "server/cli/commands.h"
#include "server/cli/common.h"
#include "server/cli/report_formats.h"
#include "server/cli/report_source.h"

namespace assay::server {
namespace {

constexpr const char* kCommand = "report";

struct ReportOptions {
  std::string format = "table";
  std::string run;
  std::string store;
};

int run_report(const ReportOptions& options) {
  const std::optional<ReportFormat> format = report_format_from(options.format);
  if (!format) return complain(kCommand, kUsage, "unknown format '" + options.format + "'; valid: table, json, csv, html");
  int status = kPass;
  const std::optional<Workspace> workspace = open_workspace(kCommand, status);
  if (!workspace) return status;
  const std::filesystem::path store = options.store.empty() ? workspace->paths.default_store() : std::filesystem::path(options.store);
  const Result<Report> report = read_report(store, workspace->catalog, options.run);
  if (!report) return complain(kCommand, status_of_report_error(report.error()), report.error().message);
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
  command->add_option("--run", options->run, "the run's handle (default: the newest run)");
  command->add_option("--store", options->store, "the store that holds the run (default: the user's)");
  command->callback([options, &status] { status = run_report(*options); });
}

}  // namespace assay::server
