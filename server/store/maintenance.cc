#include "server/store/maintenance.h"

#include <SQLiteCpp/Database.h>
#include <SQLiteCpp/Exception.h>
#include <SQLiteCpp/Statement.h>
#include <SQLiteCpp/Transaction.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <optional>
#include <system_error>
#include <tuple>
#include <utility>

#include "base/clock.h"
#include "base/text.h"
#include "server/store/artifact_quota.h"
#include "server/store/connection.h"
#include "server/store/schema.h"
#include "server/store/store_file.h"

namespace assay::server {
namespace {

namespace fs = std::filesystem;

/// One transaction removes artifacts of about kBatchBytes, or moves at most kBatchPages pages of
/// the file. Such a transaction takes some tens of milliseconds.
constexpr std::int64_t kBatchBytes = 16LL << 20;
constexpr int kBatchPages = 2'000;
/// The maximum number of jobs that one transaction removes.
constexpr std::int64_t kBatchJobs = 200;
/// The pause after each transaction while a server uses the same file. The pause is long enough for
/// the server to write: a writer that finds the database locked tries again after at most 100 ms.
constexpr std::chrono::milliseconds kTurnOfServer(120);
// The statistics show at most this number of kinds of artifacts, with names of at most this length.
// The limits are needed because a submission can invent any number of kinds with long names.
constexpr std::size_t kShownKinds = 16;
constexpr std::size_t kKindBytes = 32;

std::int64_t bytes_of_file(const fs::path& path) {
  std::error_code code;
  const std::uintmax_t bytes = fs::file_size(path, code);
  return code ? 0 : static_cast<std::int64_t>(bytes);
}

std::int64_t value_of(SQLite::Database& db, const char* sql) {
  return db.execAndGet(sql).getInt64();
}

FileSizes sizes_of(SQLite::Database& db, const fs::path& path) {
  return {bytes_of_file(path), bytes_of_file(path.string() + "-wal"),
          value_of(db, "PRAGMA freelist_count") * value_of(db, "PRAGMA page_size")};
}

using Counts = std::map<std::pair<std::string, bool>, ArtifactCount>;

void count(Counts& counts, const std::string& kind, bool scored, std::int64_t bytes,
           std::int64_t at_unix_ms) {
  ArtifactCount& one = counts[{cut_end(escape_line(kind), kKindBytes), scored}];
  one.oldest_unix_ms = one.count == 0 ? at_unix_ms : std::min(one.oldest_unix_ms, at_unix_ms);
  ++one.count;
  one.bytes += bytes;
}

/// Returns the counts, sorted by size, largest first. If there are more than kShownKinds kinds, the
/// smaller kinds are combined in one entry, "other kinds".
std::vector<ArtifactCount> sorted(const Counts& counts) {
  std::vector<ArtifactCount> all;
  for (const auto& [key, one] : counts) {
    all.push_back(one);
    std::tie(all.back().kind, all.back().scored) = key;
  }
  std::stable_sort(all.begin(), all.end(), [](const ArtifactCount& a, const ArtifactCount& b) {
    return a.bytes > b.bytes;
  });
  std::vector<ArtifactCount> shown;
  for (const bool scored : {false, true}) {
    ArtifactCount rest{.kind = "other kinds", .scored = scored};
    std::size_t kinds = 0;
    for (const ArtifactCount& one : all) {
      if (one.scored != scored) continue;
      if (++kinds <= kShownKinds) {
        shown.push_back(one);
        continue;
      }
      rest.oldest_unix_ms =
          rest.count == 0 ? one.oldest_unix_ms : std::min(rest.oldest_unix_ms, one.oldest_unix_ms);
      rest.count += one.count;
      rest.bytes += one.bytes;
    }
    if (rest.count > 0) shown.push_back(rest);
  }
  return shown;
}

/// Returns the statistics of a store. The schema of the store may have any version up to the
/// current one.
StoreStats stats_of(SQLite::Database& db, const fs::path& path) {
  StoreStats stats;
  stats.sizes = sizes_of(db, path);
  Counts counts;
  SQLite::Statement query(
      db,
      "SELECT a.kind, r.track IS NOT NULL AND r.track <> 'practice', length(a.bytes), a.at_unix_ms "
      "FROM artifacts a JOIN submissions s ON s.job = a.job LEFT JOIN runs r ON r.run = s.run");
  while (query.executeStep())
    count(counts, query.getColumn(0).getString(), query.getColumn(1).getInt() != 0,
          query.getColumn(2).getInt64(), query.getColumn(3).getInt64());
  stats.artifacts = sorted(counts);
  stats.runs = value_of(db, "SELECT count(*) FROM runs");
  stats.submissions = value_of(db, "SELECT count(*) FROM submissions");
  stats.source_bytes = bytes_of_column(db, "submissions", "source");
  stats.verdicts = value_of(db, "SELECT count(*) FROM verdicts");
  stats.verdict_bytes = bytes_of_column(db, "verdicts", "document");
  if (db.tableExists("tasks")) stats.tasks = value_of(db, "SELECT count(*) FROM tasks");
  return stats;
}

class Pruning {
 public:
  Pruning(SQLite::Database& db, const fs::path& path, const PruneOptions& options, bool alone)
      : db_(db), path_(path), options_(options), alone_(alone) {}

  PruneReport run() {
    PruneReport report;
    report.before = sizes_of(db_, path_);
    remove();
    report.removed = sorted(removed_);
    report.removed_jobs = remove_jobs();
    report.scored_bytes_left = scored_artifact_bytes_of(db_);
    report.practice_bytes_left =
        artifact_bytes_of(db_) - report.scored_bytes_left - (options_.dry_run ? removed_bytes_ : 0);
    if (!options_.dry_run) give_back(report);
    report.after = sizes_of(db_, path_);
    return report;
  }

 private:
  void remove() {
    const RemovalRule rule = {.before_unix_ms = options_.before_unix_ms,
                              .most_bytes = options_.most_bytes};
    if (options_.dry_run) return note(next_to_remove(db_, rule));
    while (true) {
      SQLite::Transaction transaction(db_, SQLite::TransactionBehavior::IMMEDIATE);
      const std::vector<StoredArtifact> batch = next_to_remove(db_, rule, kBatchBytes);
      if (batch.empty()) return;
      note(batch);
      remove_artifacts(db_, batch);
      transaction.commit();
      let_server_write();
    }
  }

  RemovedJobs remove_jobs() {
    const std::int64_t before = options_.jobs_before_unix_ms;
    if (before == std::numeric_limits<std::int64_t>::min()) return {};
    if (options_.dry_run) return count_old_jobs(db_, before);
    RemovedJobs all;
    while (true) {
      SQLite::Transaction transaction(db_, SQLite::TransactionBehavior::IMMEDIATE);
      const RemovedJobs batch = remove_old_jobs(db_, before, kBatchJobs);
      transaction.commit();
      if (batch.jobs == 0 && batch.runs == 0) return all;
      all.jobs += batch.jobs;
      all.runs += batch.runs;
      all.bytes += batch.bytes;
      let_server_write();
    }
  }

  void note(const std::vector<StoredArtifact>& artifacts) {
    SQLite::Statement query(db_, "SELECT kind, at_unix_ms FROM artifacts WHERE artifact = ?");
    for (const StoredArtifact& one : artifacts) {
      bind_all(query, one.artifact);
      if (query.executeStep())
        count(removed_, query.getColumn(0).getString(), false, one.bytes,
              query.getColumn(1).getInt64());
      query.reset();
      removed_bytes_ += one.bytes;
    }
  }

  void give_back(PruneReport& report) {
    try {
      if (value_of(db_, "PRAGMA auto_vacuum") == kIncremental) {
        report.space = free_pages_go() ? SpaceReturn::returned : SpaceReturn::partly;
      } else if (alone_) {
        // The file was created without auto_vacuum, by an older version of Assay. The next two
        // statements rewrite the file with auto_vacuum, so that later removals can give single
        // pages back to the file system.
        db_.exec("PRAGMA auto_vacuum=INCREMENTAL");
        db_.exec("VACUUM");
        report.space = SpaceReturn::returned;
      } else {
        report.space = SpaceReturn::in_server;
      }
      // The file shrinks only when SQLite copies its log into the file. A process that reads the
      // file can prevent this.
      SQLite::Statement checkpoint(db_, "PRAGMA wal_checkpoint(TRUNCATE)");
      const bool blocked = checkpoint.executeStep() && checkpoint.getColumn(0).getInt() != 0;
      if (blocked && report.space == SpaceReturn::returned) report.space = SpaceReturn::partly;
    } catch (const SQLite::Exception& error) {
      report.space = SpaceReturn::failed;
      report.why = error.what();
    }
  }

  /// Moves the free pages to the end of the file and cuts the file there. Returns false if some
  /// free pages remain.
  bool free_pages_go() {
    for (std::int64_t left = value_of(db_, "PRAGMA freelist_count"); left > 0;) {
      db_.exec("PRAGMA incremental_vacuum(" + std::to_string(kBatchPages) + ")");
      const std::int64_t now = value_of(db_, "PRAGMA freelist_count");
      if (now >= left) return false;  // meanwhile the server has freed as many pages
      left = now;
      let_server_write();
    }
    return true;
  }

  void let_server_write() const {
    if (!alone_) system_clock().pause(kTurnOfServer);
  }

  static constexpr std::int64_t kIncremental = 2;  // a value of PRAGMA auto_vacuum

  SQLite::Database& db_;
  const fs::path& path_;
  const PruneOptions& options_;
  const bool alone_;
  Counts removed_;
  std::int64_t removed_bytes_ = 0;
};

/// Returns an error if the store does not have the current schema, because the calling function
/// cannot work with an older schema.
Status has_current_schema(SQLite::Database& db, const fs::path& path, const std::string& remedy) {
  const std::int64_t version = value_of(db, "PRAGMA user_version");
  if (version == kSchemaVersion) return {};
  return fail(ErrorCode::unavailable, "store " + path.string() + " has schema " +
                                          std::to_string(version) + ", older than this Assay's " +
                                          std::to_string(kSchemaVersion) + "; " + remedy);
}

Result<PruneReport> dry_run(const fs::path& path, const PruneOptions& options) {
  SQLite::Database db(path.string(), SQLite::OPEN_READONLY, kBusyTimeoutMs);
  ASSAY_RETURN_IF_ERROR(has_current_schema(
      db, path, "`assay store stats` reads it, and pruning without --dry-run migrates it"));
  const SQLite::Transaction snapshot(db);
  return Pruning(db, path, options, false).run();
}

}  // namespace

Result<StoreStats> store_stats(const fs::path& path) {
  ASSAY_RETURN_IF_ERROR(check_store_exists(path));
  try {
    ASSAY_RETURN_IF_ERROR(check_store_file(path));
    SQLite::Database db(path.string(), SQLite::OPEN_READONLY, kBusyTimeoutMs);
    ASSAY_RETURN_IF_ERROR(prepare_for_reading(db, path));
    const SQLite::Transaction snapshot(db);
    return stats_of(db, path);
  } catch (const SQLite::Exception& error) {
    return fail(sqlite_error(error, path));
  }
}

Result<PruneReport> prune_store(const fs::path& path, const PruneOptions& options) {
  ASSAY_RETURN_IF_ERROR(check_store_exists(path));
  try {
    ASSAY_RETURN_IF_ERROR(check_store_file(path));
    if (options.dry_run) return dry_run(path, options);
    ASSAY_TRY(lock, try_lock_store_file(path));
    SQLite::Database db(path.string(), SQLite::OPEN_READWRITE, kBusyTimeoutMs);
    if (!lock)
      ASSAY_RETURN_IF_ERROR(
          has_current_schema(db, path, "stop the server that uses it, and start this Assay's"));
    ASSAY_RETURN_IF_ERROR(prepare_for_writing(db, path));
    return Pruning(db, path, options, lock.has_value()).run();
  } catch (const SQLite::Exception& error) {
    return fail(sqlite_error(error, path));
  }
}

}  // namespace assay::server
