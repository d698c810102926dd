// Maintenance of a store's file: what is in it, and removing artifacts of practice from it. For the
// commands `assay store stats` and `assay store prune`, also while a server uses the file.
//
//   const Result<StoreStats> stats = store_stats("assay.db");
//   const Result<PruneReport> removed =
//       prune_store("assay.db", {.before_unix_ms = now_unix_ms - 86'400'000});
//
// Beside a server, each transaction is short, and a pause follows it in which the server writes.
// The functions keep no state; several processes may call them at once. Errors: those of
// Store::open(), but a store in use is no error.
#pragma once

#include <cstdint>
#include <filesystem>
#include <limits>
#include <string>
#include <vector>

#include "base/result.h"

namespace assay::server {

/// A number of artifacts of one kind.
struct ArtifactCount {
  std::string kind;  // escaped; a submission may have chosen it
  bool scored = false;
  std::int64_t count = 0;
  std::int64_t bytes = 0;
  std::int64_t oldest_unix_ms = 0;
};

/// The sizes of a store's files, bytes.
struct FileSizes {
  std::int64_t file_bytes = 0;  // the database
  std::int64_t log_bytes = 0;   // its write-ahead log, FILE-wal
  std::int64_t free_bytes = 0;  // pages of the database that hold nothing
};

struct StoreStats {
  FileSizes sizes;
  std::vector<ArtifactCount> artifacts;  // largest first
  std::int64_t runs = 0;
  std::int64_t submissions = 0;
  std::int64_t source_bytes = 0;
  std::int64_t verdicts = 0;
  std::int64_t verdict_bytes = 0;
  std::int64_t tasks = 0;
};

Result<StoreStats> store_stats(const std::filesystem::path& path);

struct PruneOptions {
  /// Artifacts of practice that are older are removed.
  std::int64_t before_unix_ms = std::numeric_limits<std::int64_t>::min();
  /// The oldest artifacts of practice are removed while all artifacts have more bytes.
  std::int64_t most_bytes = std::numeric_limits<std::int64_t>::max();
  bool dry_run = false;  // only tells what would be removed
};

/// What became of the free pages.
enum class SpaceReturn {
  none,       // a dry run
  returned,   // the file has no free pages any more
  partly,     // some pages stay free, because a reader or the server used the file
  in_server,  // the file cannot shrink while a server uses it; the server fills the free pages
  failed,     // the file could not be rewritten, for example because the disk is full
};

struct PruneReport {
  std::vector<ArtifactCount> removed;    // largest first
  std::int64_t practice_bytes_left = 0;  // artifacts of practice
  std::int64_t scored_bytes_left = 0;    // artifacts of scored runs, which are never removed
  FileSizes before, after;
  SpaceReturn space = SpaceReturn::none;
  std::string why = {};  // of `failed`
};

/// Removes artifacts of practice, and gives their space back to the file system as far as it can.
Result<PruneReport> prune_store(const std::filesystem::path& path, const PruneOptions& options);

}  // namespace assay::server
