// Implements `assay show JOB`, which prints what is known about one job: its verdict, the submitted
// source, and the file with the transcript if a bench made the job.
#include <cstdio>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/json.h"
#include "base/rfc3339.h"
#include "base/text.h"
#include "server/app/exit_status.h"
#include "server/app/report_source.h"
#include "server/app/workspace.h"
#include "server/bench/journal.h"
#include "server/bench/run.h"
#include "server/commands/commands.h"
#include "tools/answer/verdict_answer.h"
#include "tools/json/verdict_json.h"
#include "tools/model/public_verdict.h"

namespace assay::server {
namespace {

namespace fs = std::filesystem;

constexpr const char* kShow = "show";

struct ShowOptions {
  std::string job, store, suite;
  std::string bench = "bench-out";
  bool json = false, source = false;
};

/// Returns the transcript of the attempt to which the job belongs. Returns "" if no bench in
/// `directory` has the job's run.
Result<std::string> transcript_of(const StoredJob& job, const fs::path& directory) {
  if (job.run.empty()) return std::string();
  const Result<std::vector<bench::RecordedBench>> benches = bench::find_benches(directory);
  if (!benches) {
    if (benches.error().code == ErrorCode::not_found) return std::string();
    return fail(benches.error());
  }
  for (const bench::RecordedBench& recorded : *benches) {
    for (const auto& [sample, run] : recorded.journal.runs) {
      const fs::path path = bench::transcript_path(recorded.directory, sample, job.operator_name);
      std::error_code error;
      if (run.run == job.run && fs::exists(path, error)) return path.string();
    }
  }
  return std::string();
}

/// Returns the lines for a person. The verdict and the source contain text of the submission, and
/// a run may be imported, so what comes from them is one line each, or its lines have a mark.
std::string as_text(const StoredJob& job, const operators::Operator* op,
                    const std::string& transcript) {
  std::string text = escape_line(job.job + ": " + job.kind + " of " + job.operator_name +
                                 " on device " + job.device + ", " + job.state) +
                     "\n";
  if (job.verdict) text += "suite       " + text_of(job.verdict->provenance.suite_id) + "\n";
  text += "run         " + (job.run.empty() ? "none (practice)" : job.run) + "\n";
  text += "queued      " + iso_time(job.queued_unix_ms) + "\n";
  if (job.finished_unix_ms) text += "finished    " + iso_time(*job.finished_unix_ms) + "\n";
  text += "transcript  " + (transcript.empty() ? "none is known" : escape_line(transcript)) + "\n";
  text += "source      SHA-256 " + job.source_sha256 + ", " + std::to_string(job.source.size()) +
          " bytes\n\n";
  if (job.verdict) {
    tools::JobStatus over;
    over.job = job.job;
    over.state = tools::JobState::finished;
    over.elapsed_ms = tools::shown_elapsed_ms(
        job.verdict->kind, job.finished_unix_ms.value_or(job.queued_unix_ms) - job.queued_unix_ms);
    const tools::PublicVerdict shown = tools::public_verdict(*job.verdict, op);
    text += tools::verdict_text(shown.verdict(), over, tools::Format::detailed) + "\n\n";
  }
  return text + "source (untrusted; --source prints it without marks):\n" +
         quote_lines(escape_text(job.source));
}

std::string as_json(const StoredJob& job, const operators::Operator* op,
                    const std::string& transcript) {
  using nlohmann::ordered_json;
  ordered_json root = {{"job", job.job},
                       {"run", job.run.empty() ? ordered_json() : ordered_json(job.run)},
                       {"operator", job.operator_name},
                       {"kind", job.kind},
                       {"device", job.device},
                       {"state", job.state},
                       {"queued", iso_time(job.queued_unix_ms)},
                       {"finished", nullptr},
                       {"transcript", nullptr},
                       {"source_sha256", job.source_sha256},
                       {"source", job.source},
                       {"verdict", nullptr}};
  if (job.finished_unix_ms) root["finished"] = iso_time(*job.finished_unix_ms);
  if (!transcript.empty()) root["transcript"] = transcript;
  if (job.verdict)
    root["verdict"] = tools::verdict_to_json(tools::public_verdict(*job.verdict, op).verdict());
  return root.dump(2, ' ', false, ordered_json::error_handler_t::replace) + "\n";
}

int show(const ShowOptions& options) {
  int status = kPass;
  const std::optional<Workspace> workspace = open_workspace(kShow, status, options.suite);
  if (!workspace) return status;
  const fs::path store =
      options.store.empty() ? workspace->paths.default_store() : fs::path(options.store);
  const Result<StoredJob> job = read_job(store, workspace->catalog, options.job);
  if (!job) return print_error(kShow, status_of_report_error(job.error()), job.error().message);
  if (options.source) {
    if (std::fwrite(job->source.data(), 1, job->source.size(), stdout) != job->source.size())
      return print_error(kShow, kUnavailable, "cannot write to standard output");
    return kPass;
  }
  const Result<std::string> transcript = transcript_of(*job, options.bench);
  if (!transcript) return print_error(kShow, kBadData, transcript.error().message);
  const operators::Operator* op = workspace->catalog.find(job->operator_name);
  const std::string text =
      options.json ? as_json(*job, op, *transcript) : as_text(*job, op, *transcript);
  std::fputs(text.c_str(), stdout);
  return kPass;
}

}  // namespace

void add_show(CLI::App& app, int& status) {
  auto options = std::make_shared<ShowOptions>();
  CLI::App* command =
      app.add_subcommand("show", "Show the verdict, source and transcript of a job");
  command->add_option("job", options->job, "the handle of a job, job_...")->required();
  command->add_option("--store", options->store, "the store that holds the job");
  command->add_option("--suite", options->suite, kSuiteOfStoreHelp);
  command
      ->add_option("--bench", options->bench,
                   "the --out of the bench in which the transcript is searched")
      ->capture_default_str();
  auto* json = command->add_flag("--json", options->json, "print JSON");
  command->add_flag("--source", options->source, "print only the source, byte for byte")
      ->excludes(json);
  command->callback([options, &status] { status = show(*options); });
}

}  // namespace assay::server
