#include "server/commands/export/export_run.h"

#include <sys/stat.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/text.h"
#include "server/app/exit_status.h"
#include "server/app/files.h"
#include "server/app/report_source.h"
#include "server/app/workspace.h"
#include "server/bundle/run_bundle.h"
#include "server/runs/services.h"
#include "tools/model/public_verdict.h"

namespace assay::server {
namespace {

constexpr const char* kExportRun = "export run";
constexpr const char* kExportCheck = "export check";
constexpr std::int64_t kMaxKeyBytes = 16 << 10;

struct ExportRunOptions {
  std::string run, key, out, store, suite;
};

/// Reads the key. Refuses a file that other users can read: who has the key can sign in its owner's
/// name.
Result<bundle::SigningKey> read_key(const std::string& path) {
  ASSAY_TRY(pem, read_file_bytes(path, kMaxKeyBytes, "a key"));
  struct stat info {};
  if (::stat(path.c_str(), &info) == 0 && (info.st_mode & (S_IRWXG | S_IRWXO)) != 0)
    return fail(ErrorCode::permission_denied,
                "other users can access the key " + path + "; type: chmod 600 " + path);
  return bundle::SigningKey::parse(pem);
}

/// Returns the bytes of an artifact.
Result<std::string> artifact_bytes(Store& store, const std::string& handle, std::size_t total) {
  std::string bytes;
  while (bytes.size() < total) {
    ASSAY_TRY(slice, store.read_artifact(handle, std::nullopt,
                                         static_cast<std::int64_t>(bytes.size()), kMaxSliceBytes));
    if (slice.bytes.empty())
      return fail(ErrorCode::corrupt, "the artifact " + handle + " is shorter than it says");
    bytes += slice.bytes;
  }
  return bytes;
}

/// Returns the stored launch plans of a job, as far as they fit into `left` bytes.
Result<std::map<std::string, std::string>> plans_of(Store& store, const std::string& job,
                                                    std::size_t& left) {
  std::map<std::string, std::string> plans;
  ASSAY_TRY(artifacts, store.list_artifacts(job));
  for (const auto& [handle, text] : artifacts) {
    ASSAY_TRY(first, store.read_artifact(handle, std::nullopt, 0, 1));
    const auto total = static_cast<std::size_t>(first.total_bytes);
    if (first.kind != "plan" || total > std::min(left, bundle::BundleLimits{}.plan_bytes)) continue;
    ASSAY_TRY(bytes, artifact_bytes(store, handle, total));
    left -= bytes.size();
    plans.emplace(first.name, std::move(bytes));
  }
  return plans;
}

/// Adds the stored transcripts of the run, as far as they fit into a bundle.
Status add_transcripts(Store& store, bundle::RunBundle& found) {
  const bundle::BundleLimits limits;
  std::size_t left = limits.all_transcript_bytes;
  for (const std::string& name : found.run.operators) {
    ASSAY_TRY(document, store.transcript(found.run.handle, name));
    if (!document || document->size() > left) continue;
    left -= document->size();
    ASSAY_TRY(transcript, transcripts::parse_transcript(*document, limits.transcript));
    found.transcripts.emplace(name, std::move(transcript));
  }
  return {};
}

/// Returns a label as a bundle can have it. Older versions stored labels with tabs and line feeds,
/// which bundles must not have.
std::string label_of(const std::string& stored) {
  if (is_one_line(stored)) return stored;
  return cut_end(escape_line(stored), bundle::BundleLimits{}.name_bytes);
}

Result<bundle::RunBundle> read_run(Store& store, const operators::Catalog& catalog,
                                   const std::string& handle) {
  bundle::RunBundle found;
  found.assay = ASSAY_VERSION;
  ASSAY_TRY(run, store.run(handle, std::nullopt));
  ASSAY_TRY(provenance, store.provenance(handle));
  if (!provenance.empty())
    return fail(ErrorCode::invalid_argument,
                "the verdicts of run " + handle +
                    " were imported from a file, so it cannot be signed as a run that was judged "
                    "here. The file says: " +
                    escape_line(provenance));
  found.run = std::move(run);
  found.run.request.agent = label_of(found.run.request.agent);
  found.run.request.model = label_of(found.run.request.model);
  ASSAY_TRY(usage, store.usage(handle));
  found.usage = usage;
  ASSAY_TRY(devices, store.device_names(handle));
  found.devices = std::move(devices);
  std::size_t plan_bytes = bundle::BundleLimits{}.all_plan_bytes;
  for (const std::string& name : found.run.operators) {
    ASSAY_TRY(jobs, store.stored_jobs(handle, name));
    for (StoredJob& job : jobs) {
      if (!job.verdict || !job.finished_unix_ms) continue;
      bundle::BundledJob one;
      one.job = job.job;
      one.operator_name = job.operator_name;
      one.device = job.device;
      one.queued_unix_ms = job.queued_unix_ms;
      one.finished_unix_ms = *job.finished_unix_ms;
      one.source = std::move(job.source);
      one.kind = sandbox::job_kind_from(job.kind).value_or(sandbox::JobKind::test);
      one.state =
          job.state == tools::to_string(tools::JobState::cancelled) ? tools::JobState::cancelled
          : job.state == tools::to_string(tools::JobState::aborted) ? tools::JobState::aborted
                                                                    : tools::JobState::finished;
      one.language = job.verdict->language;
      one.verdict = tools::public_verdict(*job.verdict, catalog.find(name)).verdict();
      ASSAY_TRY(plans, plans_of(store, job.job, plan_bytes));
      one.plans = std::move(plans);
      found.jobs.push_back(std::move(one));
    }
  }
  ASSAY_RETURN_IF_ERROR(add_transcripts(store, found));
  if (found.jobs.empty())
    return fail(ErrorCode::not_found, "run " + handle + " has no finished job");
  return found;
}

int export_run(const ExportRunOptions& options) {
  int status = kPass;
  const std::optional<Workspace> workspace = open_workspace(kExportRun, status, options.suite);
  if (!workspace) return status;
  const Result<bundle::SigningKey> key = read_key(options.key);
  if (!key) {
    const ErrorCode code = key.error().code;
    return print_error(kExportRun,
                       code == ErrorCode::permission_denied ? kUnsafe
                       : code == ErrorCode::corrupt         ? kBadData
                                                            : kNoInput,
                       key.error().message);
  }
  const std::filesystem::path path = options.store.empty() ? workspace->paths.default_store()
                                                           : std::filesystem::path(options.store);
  const auto services = open_store_to_read(path, workspace->catalog);
  if (!services)
    return print_error(kExportRun, status_of_report_error(services.error()),
                       services.error().message);
  const Result<bundle::RunBundle> run =
      read_run((*services)->store(), workspace->catalog, options.run);
  if (!run)
    return print_error(kExportRun, status_of_report_error(run.error()), run.error().message);
  Result<std::string> file = bundle::write_bundle(*run, *key);
  if (!file) return print_error(kExportRun, kInternal, file.error().message);
  // What others would refuse is not written.
  if (const auto readable = bundle::read_bundle(*file); !readable)
    return print_error(kExportRun, kBadData, readable.error().message);
  std::ofstream out(options.out, std::ios::binary | std::ios::trunc);
  out << *file;
  if (!out.flush()) return print_error(kExportRun, kUnavailable, "cannot write " + options.out);
  std::printf("%s: run %s, %zu jobs, %zu transcripts, %zu bytes\n", options.out.c_str(),
              options.run.c_str(), run->jobs.size(), run->transcripts.size(), file->size());
  return kPass;
}

/// Prints one line for each bundle. Returns 0 if all are good, else 65.
int check_bundles(const std::vector<std::string>& files) {
  int status = kPass;
  for (const std::string& path : files) {
    const Result<std::string> file =
        read_file_bytes(path, static_cast<std::int64_t>(bundle::kMaxEnvelopeBytes), "a bundle");
    const Result<bundle::RunBundle> run =
        file ? bundle::read_bundle(*file) : Result<bundle::RunBundle>(fail(file.error()));
    if (!run) {
      status = print_error(kExportCheck, kBadData, path + ": " + run.error().message);
      continue;
    }
    std::size_t grades = 0, right = 0;
    for (const bundle::BundledJob& job : run->jobs) {
      if (job.kind != sandbox::JobKind::grade) continue;
      ++grades;
      right += job.verdict.outcome == sandbox::Outcome::pass ? 1 : 0;
    }
    std::printf(
        "%s: run %s, agent %s, model %s, key %s, %zu of %zu operators submitted, claims %zu "
        "right\n",
        path.c_str(), run->run.handle.c_str(), escape_line(run->run.request.agent).c_str(),
        escape_line(run->run.request.model).c_str(), run->fingerprint.c_str(), grades,
        run->run.operators.size(), right);
  }
  return status;
}

}  // namespace

void add_export_run(CLI::App& group, int& status) {
  auto options = std::make_shared<ExportRunOptions>();
  CLI::App* command = group.add_subcommand(
      "run", "Write a run into a signed bundle, which others can judge again and show");
  command->add_option("run", options->run, "the handle of the run")->required();
  command
      ->add_option("--key", options->key,
                   "the private key in PEM: openssl genpkey -algorithm ed25519 -out key.pem")
      ->required();
  command->add_option("--out", options->out, "the file to write")->required();
  command->add_option("--suite", options->suite,
                      "a folder of operators to use instead of Assay's own");
  command->add_option("--store", options->store,
                      "the store that holds the run (default: the user's)");
  command->callback([options, &status] { status = export_run(*options); });
  auto files = std::make_shared<std::vector<std::string>>();
  CLI::App* check = group.add_subcommand(
      "check", "Check the signature and the content of bundles; exit status 65 if one is refused");
  check->add_option("bundles", *files, "the files that `assay export run` wrote")->required();
  check->callback([files, &status] { status = check_bundles(*files); });
}

}  // namespace assay::server
