// Implements `assay export flashinfer-trace OUT`, which writes operators, submissions and verdicts
// in the format of another benchmark. This file reads the store; a script in importers/ writes the
// files. The command replaces its own process with the script (exec), so the script's exit status
// is the exit status of the command. The script gets public verdicts only, so nothing about hidden
// cases leaves Assay.
#include "server/commands/export/export.h"

#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/json.h"
#include "base/rfc3339.h"
#include "base/text.h"
#include "server/app/exit_status.h"
#include "server/app/report_source.h"
#include "server/app/workspace.h"
#include "server/commands/export/chosen_runs.h"
#include "server/commands/export/export_dataset.h"
#include "server/commands/export/export_harbor.h"
#include "server/commands/export/export_run.h"
#include "server/commands/export/export_script.h"
#include "server/runs/services.h"
#include "tools/json/verdict_json.h"
#include "tools/model/public_verdict.h"

namespace assay::server {
namespace {

constexpr const char* kExport = "export flashinfer-trace";
constexpr const char* kScript = "importers/flashinfer/export_flashinfer.py";
constexpr int kDefaultTensorMib = 64;
constexpr int kMostTensorMib = 1 << 20;

struct ExportOptions {
  std::string out, store, suite, caller;
  std::string operators;  // names separated by commas, or "all"
  std::vector<std::string> runs, jobs;
  bool all = false;
  int tensor_mib = kDefaultTensorMib;
};

/// The jobs to export, and the lines that say which jobs are left out.
struct Chosen {
  nlohmann::json jobs = nlohmann::json::array();
  std::set<std::string> operators;  // their operators
  std::vector<std::string> left_out;
};

struct Handle {
  std::string job, author;
  bool named = false;  // the user has named this job
};

/// Returns the handles of all jobs that the options name, without those of runs that were judged
/// elsewhere.
Result<std::vector<Handle>> handles_of(const ExportOptions& options, Store& store,
                                       std::vector<std::string>& left_out) {
  std::vector<Handle> handles;
  for (const std::string& job : options.jobs) handles.push_back({job, "assay", true});
  ASSAY_TRY(runs, choose_runs(store, options.all, options.runs));
  if (runs.imported > 0) left_out.push_back(imported_runs_text(runs.imported));
  for (const tools::RunInfo& run : runs.runs) {
    ASSAY_TRY(graded, store.graded(run.handle));
    for (const GradedJob& one : graded)
      handles.push_back({one.job, run.request.agent + "-" + run.request.model, false});
  }
  return handles;
}

/// Returns why a job cannot be exported, or "".
std::string obstacle(const StoredJob& job, const operators::Operator* op) {
  if (!job.verdict) return "it is unfinished";
  if (op == nullptr)
    return "the operator " + job.operator_name + " is not in this suite; --suite names another";
  const std::string& revision = job.verdict->provenance.operator_revision;
  if (!revision.empty() && revision != op->revision)
    return "the operator " + job.operator_name + " has changed since";
  return "";
}

nlohmann::json job_json(const StoredJob& job, const operators::Operator& op,
                        const std::string& author) {
  return {{"job", job.job},
          {"operator", job.operator_name},
          {"entry", op.entry},
          {"author", author},
          {"source", job.source},
          {"finished", iso_time(job.finished_unix_ms.value_or(job.queued_unix_ms))},
          {"verdict", tools::verdict_to_json(tools::public_verdict(*job.verdict, &op).verdict())}};
}

Result<Chosen> choose_jobs(const ExportOptions& options, Store& store,
                           const operators::Catalog& catalog) {
  Chosen chosen;
  std::set<std::string> seen;
  ASSAY_TRY(handles, handles_of(options, store, chosen.left_out));
  for (const Handle& handle : handles) {
    if (!seen.insert(handle.job).second) continue;
    ASSAY_TRY(job, store.stored_job(handle.job));
    ASSAY_TRY(provenance, handle.named ? store.provenance(job.run) : Result<std::string>(""));
    if (!provenance.empty())
      return fail(ErrorCode::invalid_argument,
                  "job " + handle.job + ": its verdict was imported from a file");
    const Result<tools::JobSource> owned = store.source_of(handle.job, options.caller);
    if (!owned && owned.error().code != ErrorCode::not_found) return fail(owned.error());
    const operators::Operator* op = catalog.find(job.operator_name);
    const std::string why =
        owned ? obstacle(job, op) : "it belongs to another client; --caller names the client";
    if (!why.empty() && handle.named)
      return fail(ErrorCode::invalid_argument, "job " + handle.job + ": " + why);
    if (!why.empty()) {
      chosen.left_out.push_back("left out: job " + handle.job + ": " + why);
      continue;
    }
    chosen.operators.insert(op->name);
    chosen.jobs.push_back(
        job_json(job, *op, options.caller.empty() ? handle.author : options.caller));
  }
  return chosen;
}

Status add_named_operators(const ExportOptions& options, const operators::Catalog& catalog,
                           std::set<std::string>& names) {
  if (options.operators.empty()) return {};
  for (const std::string& name : split(options.operators, ",")) {
    if (name == "all") {
      for (const operators::Operator& op : catalog.all()) names.insert(op.name);
    } else if (catalog.find(name) != nullptr) {
      names.insert(name);
    } else {
      return fail(ErrorCode::not_found, "unknown operator '" + escape_text(name) +
                                            "'; `assay operators list` lists them");
    }
  }
  return {};
}

int export_flashinfer(const ExportOptions& options) {
  const bool wants_jobs = options.all || !options.runs.empty() || !options.jobs.empty();
  if (!wants_jobs && options.operators.empty())
    return print_error(kExport, kUsage,
                       "name what to export: --run RUN, --job JOB, --all or --operators NAMES");
  int status = kPass;
  const std::optional<Workspace> workspace = open_workspace(kExport, status, options.suite);
  if (!workspace) return status;
  Chosen chosen;
  if (wants_jobs) {
    const std::filesystem::path path = options.store.empty() ? workspace->paths.default_store()
                                                             : std::filesystem::path(options.store);
    const auto services = open_store_to_read(path, workspace->catalog);
    if (!services)
      return print_error(kExport, status_of_report_error(services.error()),
                         services.error().message);
    Result<Chosen> found = choose_jobs(options, (*services)->store(), workspace->catalog);
    if (!found)
      return print_error(kExport, status_of_report_error(found.error()), found.error().message);
    chosen = std::move(*found);
  }
  const Status named = add_named_operators(options, workspace->catalog, chosen.operators);
  if (!named) return print_error(kExport, kUnknownName, named.error().message);
  for (const std::string& line : chosen.left_out) stderr_line(line);
  nlohmann::json request = {{"operators", nlohmann::json::array()}, {"jobs", chosen.jobs}};
  for (const std::string& name : chosen.operators)
    request["operators"].push_back(
        {{"name", name}, {"directory", workspace->catalog.find(name)->directory.string()}});
  if (chosen.operators.empty())
    return print_error(kExport, kNoInput, "there is no job to export; `assay runs` lists the runs");
  Result<ScriptInput> input = ScriptInput::make();
  const Status added = input ? input->add(request) : Status(fail(input.error()));
  if (!added) return print_error(kExport, kUnavailable, added.error().message);
  return run_export_script(
      kExport, workspace->paths, kScript, std::move(*input),
      {"--out", options.out, "--tensor-mib", std::to_string(options.tensor_mib)});
}

}  // namespace

void add_export(CLI::App& app, int& status) {
  CLI::App* group = app.add_subcommand("export", "Write submissions and verdicts for others");
  group->require_subcommand(1);
  auto options = std::make_shared<ExportOptions>();
  CLI::App* command = group->add_subcommand(
      "flashinfer-trace", "Write a dataset that FlashInfer-Bench reads; hidden cases are left out");
  command->add_option("out", options->out, "the folder to write; it must be new or empty")
      ->required();
  command->add_option("--run", options->runs, "the submissions of this run; may be repeated")
      ->allow_extra_args(false);
  command->add_option("--job", options->jobs, "this job; may be repeated")->allow_extra_args(false);
  command->add_flag("--all", options->all, "the submissions of all runs");
  command->add_option("--operators", options->operators,
                      "also these operators, without submissions: names separated by commas, or "
                      "all");
  command->add_option("--caller", options->caller,
                      "the client whose jobs are exported (default: jobs without a token)");
  command->add_option("--suite", options->suite,
                      "a folder of operators to use instead of Assay's own");
  command->add_option("--store", options->store,
                      "the store that holds the jobs (default: the user's)");
  command
      ->add_option("--tensor-mib", options->tensor_mib,
                   "the most MiB of inputs of a case that are stored as tensors")
      ->check(CLI::Range(1, kMostTensorMib))
      ->capture_default_str();
  command->callback([options, &status] { status = export_flashinfer(*options); });
  add_export_dataset(*group, status);
  add_export_harbor(*group, status);
  add_export_run(*group, status);
}

}  // namespace assay::server
