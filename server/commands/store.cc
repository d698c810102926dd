// Implements the commands `assay store ...`. `stats` prints what a store contains. `check` looks
// for damage. `backup` copies the store to another file. `prune` removes artifacts of practice
// jobs, or old practice jobs as a whole. All these commands also work while a server uses the
// store.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/text.h"
#include "base/units.h"
#include "server/app/exit_status.h"
#include "server/app/workspace.h"
#include "server/commands/commands.h"
#include "server/store/backup.h"
#include "server/store/check.h"
#include "server/store/maintenance.h"
#include "server/store/store_limits.h"

namespace assay::server {
namespace {

constexpr std::int64_t kMsPerSecond = 1'000;
constexpr std::int64_t kMsPerHour = 3'600 * kMsPerSecond;

struct StoreOptions {
  std::string store;
  std::string older_than, max_bytes;  // empty: artifacts are not removed by this criterion
  std::string jobs_older_than;        // empty: no job is removed
  std::string destination;            // the file that `backup` writes
  bool dry_run = false;
};

Result<std::filesystem::path> chosen_store(const StoreOptions& options) {
  if (!options.store.empty()) return options.store;
  ASSAY_TRY(paths, find_paths());
  return paths.default_store();
}

int status_of_store_error(const Error& error) {
  return error.code == ErrorCode::not_found          ? kNoInput
         : error.code == ErrorCode::invalid_argument ? kUsage
                                                     : kStoreUnusable;
}

std::string sizes_text(const FileSizes& sizes) {
  return bytes_text(sizes.file_bytes) + " in the file (" + bytes_text(sizes.free_bytes) +
         " free), " + bytes_text(sizes.log_bytes) + " in its log";
}

std::string line_of(const ArtifactCount& one, std::int64_t now_unix_ms) {
  const std::int64_t age_ms = std::max<std::int64_t>(now_unix_ms - one.oldest_unix_ms, 0);
  const std::int64_t shown_ms = age_ms < kMsPerHour ? age_ms : age_ms - age_ms % kMsPerHour;
  return "  " + one.kind + ", " + (one.scored ? "scored runs" : "practice") + ": " +
         grouped(one.count) + ", " + bytes_text(one.bytes) + ", the oldest " +
         seconds_text(shown_ms / kMsPerSecond) + " old\n";
}

std::string lines_of_artifacts(const std::vector<ArtifactCount>& counts, std::int64_t now_unix_ms) {
  std::string text;
  for (const ArtifactCount& one : counts) text += line_of(one, now_unix_ms);
  return text.empty() ? "  none\n" : text;
}

int print_text(const std::string& command, const std::string& text) {
  if (std::fwrite(text.data(), 1, text.size(), stdout) != text.size() || std::fflush(stdout) != 0)
    return print_error(command, kUnavailable, "cannot write to standard output");
  return kPass;
}

int show_stats(const StoreOptions& options) {
  const Result<std::filesystem::path> path = chosen_store(options);
  if (!path) return print_error("store stats", kBadConfig, path.error().message);
  const Result<StoreStats> stats = store_stats(*path);
  if (!stats)
    return print_error("store stats", status_of_store_error(stats.error()), stats.error().message);
  return print_text("store stats",
                    path->string() + ": " + sizes_text(stats->sizes) + "\nartifacts:\n" +
                        lines_of_artifacts(stats->artifacts, system_clock().unix_ms()) +
                        "rows: " + grouped(stats->runs) + " runs, " + grouped(stats->submissions) +
                        " submissions (sources " + bytes_text(stats->source_bytes) + "), " +
                        grouped(stats->verdicts) + " verdicts (" +
                        bytes_text(stats->verdict_bytes) + "), " + grouped(stats->tasks) +
                        " tasks\n");
}

Result<PruneOptions> rules_from(const StoreOptions& options, std::int64_t now_unix_ms) {
  PruneOptions rules{.dry_run = options.dry_run};
  if (options.older_than.empty() && options.max_bytes.empty() && options.jobs_older_than.empty())
    rules.before_unix_ms = now_unix_ms - ArtifactLimits{}.practice_age_ms;
  if (!options.older_than.empty()) {
    const Result<std::int64_t> age = seconds_from(options.older_than);
    if (!age) return fail(age.error().code, "--older-than: " + age.error().message);
    rules.before_unix_ms = now_unix_ms - *age * kMsPerSecond;
  }
  if (!options.jobs_older_than.empty()) {
    const Result<std::int64_t> age = seconds_from(options.jobs_older_than);
    if (!age) return fail(age.error().code, "--jobs-older-than: " + age.error().message);
    rules.jobs_before_unix_ms = now_unix_ms - *age * kMsPerSecond;
  }
  if (!options.max_bytes.empty()) {
    const Result<std::int64_t> most = bytes_from(options.max_bytes);
    if (!most) return fail(most.error().code, "--max-bytes: " + most.error().message);
    rules.most_bytes = *most;
  }
  return rules;
}

/// Returns a line about the practice jobs that `prune` removes, or "" if it removes none on
/// purpose.
std::string line_of_jobs(const StoreOptions& options, const RemovedJobs& removed) {
  if (options.jobs_older_than.empty()) return "";
  return "  practice jobs: " + grouped(removed.jobs) + " with " + bytes_text(removed.bytes) +
         " of sources, verdicts and further artifacts; practice runs: " + grouped(removed.runs) +
         "\n";
}

std::string space_text(const PruneReport& report) {
  std::string sizes = "; now " + sizes_text(report.after);
  switch (report.space) {
    case SpaceReturn::none: return "nothing was changed (--dry-run)";
    case SpaceReturn::returned: return "the free space went back to the file system" + sizes;
    case SpaceReturn::partly:
      return "some space stays in the file, because another process used it; it is filled again, "
             "or prune once more" +
             sizes;
    case SpaceReturn::in_server:
      return "the file cannot shrink while a server uses it, because an older Assay made it; the "
             "server fills the free space again. To shrink it, stop the server and prune once "
             "more" +
             sizes;
    case SpaceReturn::failed:
      return "the free space stays in the file, and is filled again: " + report.why + sizes;
  }
  return sizes;
}

int prune(const StoreOptions& options) {
  const std::int64_t now_unix_ms = system_clock().unix_ms();
  const Result<PruneOptions> rules = rules_from(options, now_unix_ms);
  if (!rules) return print_error("store prune", kUsage, rules.error().message);
  const Result<std::filesystem::path> path = chosen_store(options);
  if (!path) return print_error("store prune", kBadConfig, path.error().message);
  const Result<PruneReport> report = prune_store(*path, *rules);
  if (!report)
    return print_error("store prune", status_of_store_error(report.error()),
                       report.error().message);
  std::string text = path->string() + ": " + sizes_text(report->before) + "\n" +
                     (options.dry_run ? "would remove:\n" : "removed:\n") +
                     lines_of_artifacts(report->removed, now_unix_ms) +
                     line_of_jobs(options, report->removed_jobs) +
                     "artifacts left: " + bytes_text(report->practice_bytes_left) +
                     " of practice, " + bytes_text(report->scored_bytes_left) +
                     " of scored runs\n" + space_text(*report) + "\n";
  if (report->scored_bytes_left > rules->most_bytes)
    text += "--max-bytes is not reached: artifacts of scored runs are kept with their results\n";
  return print_text("store prune", text);
}

int check(const StoreOptions& options) {
  const Result<std::filesystem::path> path = chosen_store(options);
  if (!path) return print_error("store check", kBadConfig, path.error().message);
  const Result<StoreCheck> found = check_store(*path);
  if (!found)
    return print_error("store check", status_of_store_error(found.error()), found.error().message);
  std::string text = path->string() + ": ";
  if (found->problems.empty())
    text += "no damage found; " + grouped(found->jobs) + " jobs, " +
            grouped(found->unfinished_jobs) + " of them unfinished\n";
  else
    text += "damaged\n";
  for (const StoreProblem& problem : found->problems) text += "  " + problem.what + "\n";
  const int printed = print_text("store check", text);
  return printed != kPass || found->problems.empty() ? printed : kFail;
}

int back_up(const StoreOptions& options) {
  const Result<std::filesystem::path> path = chosen_store(options);
  if (!path) return print_error("store backup", kBadConfig, path.error().message);
  const Result<std::int64_t> bytes = backup_store(*path, options.destination);
  if (!bytes)
    return print_error("store backup", status_of_store_error(bytes.error()), bytes.error().message);
  return print_text("store backup", path->string() + ": " + bytes_text(*bytes) + " copied to " +
                                        options.destination + "\n");
}

}  // namespace

void add_store(CLI::App& app, int& status) {
  CLI::App* store =
      app.add_subcommand("store", "Show, check and copy what a store holds, and remove from it");
  store->require_subcommand(1);
  auto options = std::make_shared<StoreOptions>();
  CLI::App* stats = store->add_subcommand("stats", "Print the sizes of a store and its artifacts");
  stats->callback([options, &status] { status = show_stats(*options); });
  CLI::App* pruned = store->add_subcommand(
      "prune", "Remove artifacts of practice and give their space back; also beside a server");
  pruned->add_option("--older-than", options->older_than,
                     "remove those older than this: 90s, 15m, 2h, 7d, 1d12h (without any rule: " +
                         seconds_text(ArtifactLimits{}.practice_age_ms / kMsPerSecond) + ")");
  pruned->add_option("--max-bytes", options->max_bytes,
                     "remove the oldest until all artifacts have at most this: 512MiB, 1GiB");
  pruned->add_option(
      "--jobs-older-than", options->jobs_older_than,
      "also remove practice jobs that ended longer ago than this, with their sources "
      "and verdicts, and practice runs that were over by then");
  pruned->add_flag("--dry-run", options->dry_run, "only print what would be removed");
  pruned->callback([options, &status] { status = prune(*options); });
  CLI::App* checked = store->add_subcommand("check", "Look for damage; also beside a server");
  checked->callback([options, &status] { status = check(*options); });
  CLI::App* copied = store->add_subcommand(
      "backup", "Copy the store to another file; also beside a server, which does not wait");
  copied->add_option("DEST", options->destination, "the file to write; it must not exist")
      ->required();
  copied->callback([options, &status] { status = back_up(*options); });
  for (CLI::App* command : {stats, pruned, checked, copied})
    command->add_option("--store", options->store, "the store (default: the user's)");
}

}  // namespace assay::server
