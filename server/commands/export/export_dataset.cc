// Implements `assay export dataset OUT`. This file reads the store, and the journals and
// transcripts of benches; a script in importers/dataset redacts, removes duplicates and writes the
// files. The script gets public verdicts only, so nothing about hidden cases leaves Assay.
#include "server/commands/export/export_dataset.h"

#include <algorithm>
#include <filesystem>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/json.h"
#include "base/rfc3339.h"
#include "base/text.h"
#include "sandbox/job/job.h"
#include "server/app/exit_status.h"
#include "server/app/report_source.h"
#include "server/app/workspace.h"
#include "server/bench/journal.h"
#include "server/bench/run.h"
#include "server/commands/export/chosen_runs.h"
#include "server/commands/export/export_script.h"
#include "server/report/model/label.h"
#include "server/runs/services.h"
#include "server/transcripts/transcript.h"
#include "tools/json/verdict_json.h"
#include "tools/model/public_verdict.h"

namespace assay::server {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

constexpr const char* kExportDataset = "export dataset";
constexpr const char* kDatasetScript = "importers/dataset/export_dataset.py";
constexpr const char* kOwnLicence = "Apache-2.0";
constexpr const char* kModels = "models";
/// A dataset has more of a bench's transcript than a store keeps.
constexpr transcripts::TranscriptLimits kBenchLimits = {
    .step_bytes = 4U << 20, .all_bytes = 64U << 20, .steps = 100'000};

struct ExportDatasetOptions {
  std::string out, store, suite, caller, licence, redact;
  std::string title = "Judged GPU kernels";
  std::string sources = kModels;
  std::vector<std::string> runs, benches;
  bool all = false, practice = false, parquet = false, keep_duplicates = false;
};

/// Reads the store and writes the script's input.
class DatasetInput {
 public:
  DatasetInput(const ExportDatasetOptions& options, const operators::Catalog& catalog, Store& store,
               ScriptInput& input)
      : options_(options), catalog_(catalog), store_(store), input_(input) {}

  Status write() {
    ASSAY_RETURN_IF_ERROR(write_header());
    ASSAY_RETURN_IF_ERROR(choose_runs());
    for (const auto& [handle, run] : runs_) {
      for (const std::string& name : run.operators) ASSAY_RETURN_IF_ERROR(add_jobs(run, name));
    }
    if (options_.practice) {
      for (const operators::Operator& op : catalog_.all())
        ASSAY_RETURN_IF_ERROR(add_jobs({}, op.name));
    }
    for (const std::string& folder : options_.benches) {
      ASSAY_RETURN_IF_ERROR(add_bench(folder));
    }
    for (const auto& [handle, run] : runs_) ASSAY_RETURN_IF_ERROR(add_stored_transcripts(run));
    return input_.add({{"left_out",
                        {{"unfinished", unfinished_},
                         {"without a model", without_model_},
                         {"infrastructure", infrastructure_}}}});
  }
  std::size_t imported_runs() const { return imported_runs_; }
  /// Returns true if write() failed because a file of a bench is damaged or too large.
  bool bad_bench() const { return bad_bench_; }

 private:
  Status write_header() {
    json operators = json::array();
    for (const operators::Operator& op : catalog_.all()) {
      json hidden = json::array();
      for (const operators::Case& one : op.cases) {
        if (one.hidden) hidden.push_back(one.id);
      }
      operators.push_back({{"name", op.name},
                           {"split", operators::to_string(op.split)},
                           {"family", op.family},
                           {"dialect", op.dialect},
                           {"difficulty", op.difficulty},
                           {"licence", op.imported ? op.provenance.licence : kOwnLicence},
                           {"hidden_ids", std::move(hidden)}});
    }
    return input_.add({{"assay", ASSAY_VERSION},
                       {"created", iso_time(system_clock().unix_ms())},
                       {"operators", std::move(operators)}});
  }

  /// Returns true if the sources of the run may be exported. Simulated models submit changed
  /// oracles, and scripts may submit oracles.
  bool has_shown_sources(const tools::RunInfo& run) const {
    return options_.sources != kModels ||
           report::parse_model_label(run.request.model).answered_by != report::AnsweredBy::script;
  }

  Status choose_runs() {
    ASSAY_TRY(chosen, server::choose_runs(store_, options_.all, options_.runs));
    imported_runs_ = chosen.imported;
    for (tools::RunInfo& run : chosen.runs) {
      if (has_shown_sources(run)) {
        runs_.emplace(run.handle, std::move(run));
        continue;
      }
      ASSAY_TRY(kinds, store_.tool_calls(run.handle));
      for (const auto& [name, calls] : kinds) without_model_ += calls;
    }
    return {};
  }

  /// Returns the suite that judged the job. The fake device does not know it, but the run does. The
  /// digest of a suite could confirm a guess of its hidden cases, so a number replaces it, which
  /// counts the suites in the order in which jobs name them.
  json suite_json(const sandbox::Verdict& verdict, const tools::RunInfo& run) {
    const SuiteId& judged = verdict.provenance.suite_id;
    const SuiteId& suite = judged.digest.empty() ? run.suite_id : judged;
    auto known = std::find(suites_.begin(), suites_.end(), suite);
    if (known == suites_.end()) known = suites_.insert(known, suite);
    return {
        {"name", suite.name}, {"version", suite.version}, {"number", known - suites_.begin() + 1}};
  }

  /// Adds the finished jobs of an operator in a run. A run without a handle is practice; of
  /// practice, only the caller's jobs are added.
  Status add_jobs(const tools::RunInfo& run, const std::string& name) {
    const operators::Operator* op = catalog_.find(name);
    ASSAY_TRY(jobs, store_.stored_jobs(run.handle, name));
    for (const StoredJob& job : jobs) {
      if (run.handle.empty()) {
        const Result<tools::JobSource> own = store_.source_of(job.job, options_.caller);
        if (!own && own.error().code == ErrorCode::not_found) continue;
        if (!own) return fail(own.error());
      }
      if (!job.verdict || !job.finished_unix_ms) {
        ++unfinished_;
        continue;
      }
      if (sandbox::is_infrastructure_error(job.verdict->error_kind)) {
        ++infrastructure_;
        continue;
      }
      json document = tools::verdict_to_json(tools::public_verdict(*job.verdict, op).verdict());
      document.erase("artifacts");
      document.erase("artifacts_dropped");
      const bool practice = run.handle.empty();
      ASSAY_RETURN_IF_ERROR(
          input_.add({{"job",
                       {{"job", job.job},
                        {"run", run.handle},
                        {"agent", run.request.agent},
                        {"model", run.request.model},
                        {"track", practice ? "" : std::string(tools::to_string(run.request.track))},
                        {"operator", job.operator_name},
                        {"kind", job.kind},
                        {"device", job.device},
                        {"suite", suite_json(*job.verdict, run)},
                        {"source", job.source},
                        {"finished", iso_time(*job.finished_unix_ms)},
                        {"verdict", std::move(document)}}}}));
    }
    return {};
  }

  /// What is known of an attempt besides its transcript.
  struct Attempt {
    json sample = {};  // null: unknown
    std::string outcome = {}, error_kind = {};
    json cost_usd = {};  // null: unknown
  };

  /// Adds the transcripts of the benches in the folder.
  Status add_bench(const std::string& folder) {
    const auto benches = bench::find_benches(folder);
    if (!benches) return failed_to_read(benches.error());
    for (const bench::RecordedBench& recorded : *benches) {
      for (const auto& [sample, started] : recorded.journal.runs) {
        const auto run = runs_.find(started.run);
        if (run == runs_.end()) continue;
        for (const std::string& name : run->second.operators) {
          const fs::path path = bench::transcript_path(recorded.directory, sample, name);
          std::error_code error;
          if (!fs::exists(path, error)) continue;
          const auto transcript = transcripts::read_bench_transcript(path, redactor_, kBenchLimits);
          if (!transcript) return failed_to_read(transcript.error());
          Attempt attempt = {.sample = sample};
          const auto end = recorded.journal.finished.find({sample, name});
          if (end != recorded.journal.finished.end()) {
            attempt.outcome = end->second.outcome;
            attempt.error_kind = end->second.error_kind;
            if (end->second.cost_usd) attempt.cost_usd = *end->second.cost_usd;
          }
          ASSAY_RETURN_IF_ERROR(add_transcript(run->second, name, attempt, *transcript));
        }
      }
    }
    return {};
  }

  /// Returns the error of reading a file of a bench, and notes whether the file is to blame.
  Status failed_to_read(const Error& error) {
    bad_bench_ = error.code != ErrorCode::not_found;
    return fail(error);
  }

  /// Adds the transcripts that the store keeps of the run, except those that a bench had.
  Status add_stored_transcripts(const tools::RunInfo& run) {
    std::map<std::string, Attempt> attempts;
    ASSAY_TRY(graded, store_.graded(run.handle));
    for (const GradedJob& job : graded) {
      if (!job.verdict) continue;
      const tools::PublicVerdict shown =
          tools::public_verdict(*job.verdict, catalog_.find(job.operator_name));
      attempts[job.operator_name] = {
          .outcome = std::string(sandbox::to_string(shown.verdict().outcome)),
          .error_kind = std::string(sandbox::to_string(shown.verdict().error_kind))};
    }
    for (const std::string& name : run.operators) {
      if (exported_.count({run.handle, name}) > 0) continue;
      ASSAY_TRY(document, store_.transcript(run.handle, name));
      if (!document) continue;
      ASSAY_TRY(transcript, transcripts::parse_transcript(*document));
      ASSAY_RETURN_IF_ERROR(add_transcript(run, name, attempts[name], transcript));
    }
    return {};
  }

  Status add_transcript(const tools::RunInfo& run, const std::string& name, const Attempt& attempt,
                        const transcripts::Transcript& transcript) {
    if (!exported_.emplace(run.handle, name).second) return {};
    return input_.add({{"transcript",
                        {{"run", run.handle},
                         {"agent", run.request.agent},
                         {"model", run.request.model},
                         {"operator", name},
                         {"sample", attempt.sample},
                         {"outcome", attempt.outcome},
                         {"error_kind", attempt.error_kind},
                         {"cost_usd", attempt.cost_usd},
                         {"transcript", transcripts::transcript_json(transcript)}}}});
  }

  const ExportDatasetOptions& options_;
  const operators::Catalog& catalog_;
  Store& store_;
  ScriptInput& input_;
  std::map<std::string, tools::RunInfo> runs_;
  bool bad_bench_ = false;
  std::size_t imported_runs_ = 0;                           // the runs that were judged elsewhere
  std::set<std::pair<std::string, std::string>> exported_;  // run and operator of a transcript
  std::vector<SuiteId> suites_;
  const transcripts::Redactor redactor_ = transcripts::Redactor::of_environment();
  std::int64_t unfinished_ = 0, without_model_ = 0, infrastructure_ = 0;
};

int export_as_dataset(const ExportDatasetOptions& options) {
  if (!options.all && !options.practice && options.runs.empty())
    return print_error(kExportDataset, kUsage,
                       "name what to export: --run RUN, --all (all runs) or --practice (jobs of no "
                       "run)");
  int status = kPass;
  const std::optional<Workspace> workspace = open_workspace(kExportDataset, status, options.suite);
  if (!workspace) return status;
  const fs::path path =
      options.store.empty() ? workspace->paths.default_store() : fs::path(options.store);
  const auto services = open_store_to_read(path, workspace->catalog);
  if (!services)
    return print_error(kExportDataset, status_of_report_error(services.error()),
                       services.error().message);
  Result<ScriptInput> input = ScriptInput::make();
  if (!input) return print_error(kExportDataset, kUnavailable, input.error().message);
  DatasetInput reader(options, workspace->catalog, (*services)->store(), *input);
  if (const Status written = reader.write(); !written)
    return print_error(kExportDataset,
                       reader.bad_bench() ? kBadData : status_of_report_error(written.error()),
                       written.error().message);
  if (reader.imported_runs() > 0) stderr_line(imported_runs_text(reader.imported_runs()));
  std::vector<std::string> words = {"--out",       options.out, "--title",
                                    options.title, "--licence", options.licence};
  if (!options.redact.empty()) words.insert(words.end(), {"--redact", options.redact});
  if (options.parquet) words.emplace_back("--parquet");
  if (options.keep_duplicates) words.emplace_back("--keep-duplicates");
  return run_export_script(kExportDataset, workspace->paths, kDatasetScript, std::move(*input),
                           words);
}

}  // namespace

void add_export_dataset(CLI::App& group, int& status) {
  auto options = std::make_shared<ExportDatasetOptions>();
  CLI::App* command = group.add_subcommand(
      "dataset",
      "Write sources, verdicts and transcripts as a dataset; hidden cases and secrets "
      "are left out");
  command->add_option("out", options->out, "the folder to write; it must be new or empty")
      ->required();
  command->add_option("--run", options->runs, "the jobs of this run; may be repeated")
      ->allow_extra_args(false);
  command->add_flag("--all", options->all, "the jobs of all runs");
  command->add_flag("--practice", options->practice, "also the jobs that belong to no run");
  command->add_option("--caller", options->caller,
                      "the client whose practice is exported (default: jobs without a token)");
  command
      ->add_option("--bench", options->benches,
                   "the --out of a bench, whose transcripts are exported in place of those in the "
                   "store; may be repeated")
      ->allow_extra_args(false);
  command
      ->add_option("--sources", options->sources,
                   "the runs that are exported: models (in which a model answered; simulated "
                   "models submit changed oracles), all")
      ->check(CLI::IsMember({kModels, "all"}))
      ->capture_default_str();
  command->add_option("--licence", options->licence,
                      "the licence of the dataset, as an SPDX identifier: CC-BY-4.0");
  command->add_option("--title", options->title, "the title of the data card")
      ->capture_default_str();
  command->add_option("--redact", options->redact,
                      "a file with texts to remove, one a line, besides secrets of known forms");
  command->add_flag("--parquet", options->parquet,
                    "write Parquet beside JSON lines; needs the package pyarrow");
  command->add_flag("--keep-duplicates", options->keep_duplicates,
                    "keep verdicts that repeat an earlier one");
  command->add_option("--suite", options->suite,
                      "a folder of operators to use instead of Assay's own");
  command->add_option("--store", options->store,
                      "the store that holds the jobs (default: the user's)");
  command->callback([options, &status] { status = export_as_dataset(*options); });
}

}  // namespace assay::server
