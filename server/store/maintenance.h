// Maintains the file of a store: counts what the file contains, and removes artifacts of practice
// jobs, or old practice jobs as a whole. The commands `assay store stats` and `assay store prune`
// use these functions. They work even while a server uses the file.
//
//   const Result<StoreStats> stats = store_stats("assay.db");
//   const Result<PruneReport> removed =
//       prune_store("assay.db", {.before_unix_ms = now_unix_ms - 86'400'000});
//
// While a server uses the file, each transaction is short, and a pause after each transaction gives
// the server time to write. The functions keep no state, and several processes may call them at
// once. Errors: those of Store::open(), except that a store in use is no error.
#pragma once

#include <cstdint>
#include <filesystem>
#include <limits>
#include <string>
#include <vector>

#include "base/result.h"
#include "server/store/prune_jobs.h"

namespace assay::server {

/// The number and the total size of the artifacts of one kind. Artifacts of practice jobs and of
/// scored runs are counted separately.
struct ArtifactCount {
  std::string kind;  // escaped and shortened, because a submission may have chosen it
  bool scored = false;
  std::int64_t count = 0;
  std::int64_t bytes = 0;
  std::int64_t oldest_unix_ms = 0;
};

/// The sizes of a store's files, in bytes.
struct FileSizes {
  std::int64_t file_bytes = 0;  // the database
  std::int64_t log_bytes = 0;   // the database's write-ahead log, FILE-wal
  std::int64_t free_bytes = 0;  // the unused pages of the database
};

struct StoreStats {
  FileSizes sizes;
  std::vector<ArtifactCount> artifacts;  // practice before scored runs; in each, largest first
  std::int64_t runs = 0;
  std::int64_t submissions = 0;
  std::int64_t source_bytes = 0;
  std::int64_t verdicts = 0;
  std::int64_t verdict_bytes = 0;
  std::int64_t tasks = 0;
};

Result<StoreStats> store_stats(const std::filesystem::path& path);

struct PruneOptions {
  /// An artifact of a practice job is removed if it was stored before this time.
  std::int64_t before_unix_ms = std::numeric_limits<std::int64_t>::min();
  /// The maximum number of bytes of all artifacts in the store. As long as the artifacts have more
  /// bytes, the oldest artifacts of practice jobs are removed.
  std::int64_t most_bytes = std::numeric_limits<std::int64_t>::max();
  /// A practice job is removed as a whole, with its source and verdict, if it ended before this
  /// time. A run of the track `practice` is removed if it was over before this time and has no
  /// other jobs.
  std::int64_t jobs_before_unix_ms = std::numeric_limits<std::int64_t>::min();
  bool dry_run = false;  // true: only report what would be removed
};

/// Says what happened to the free pages of the file.
enum class SpaceReturn {
  none,      // a dry run
  returned,  // the file has no free pages any more
  partly,    // some pages stay free, because a reader or the server used the file
  /// An older Assay created the file without incremental auto_vacuum. Such a file cannot shrink
  /// while a server uses it. The server fills the free pages with new content.
  in_server,
  failed,  // SQLite could not rewrite the file, for example because the disk is full
};

struct PruneReport {
  /// The removed artifacts, largest kind first. After a dry run, the artifacts that would be
  /// removed.
  std::vector<ArtifactCount> removed;
  /// The removed jobs and runs. Their bytes include artifacts that are not in `removed`.
  RemovedJobs removed_jobs;
  std::int64_t practice_bytes_left = 0;  // the remaining bytes of artifacts of practice jobs
  std::int64_t scored_bytes_left = 0;    // the bytes of artifacts of scored runs; never removed
  FileSizes before, after;
  SpaceReturn space = SpaceReturn::none;
  std::string why = {};  // the reason if `space` is `failed`
};

/// Removes artifacts of practice jobs, then old practice jobs. Then gives their space back to the
/// file system, as far as this is possible.
Result<PruneReport> prune_store(const std::filesystem::path& path, const PruneOptions& options);

}  // namespace assay::server
