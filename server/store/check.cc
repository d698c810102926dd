#include "server/store/check.h"

#include <SQLiteCpp/Database.h>
#include <SQLiteCpp/Exception.h>
#include <SQLiteCpp/Statement.h>
#include <SQLiteCpp/Transaction.h>

#include <map>
#include <system_error>
#include <utility>

#include "base/text.h"
#include "server/store/connection.h"
#include "server/store/schema.h"
#include "server/store/store_file.h"

namespace assay::server {
namespace {

using Kind = StoreProblem::Kind;

/// The maximum number of messages of SQLite that the check reads. One of them is enough to know
/// that the file is damaged.
constexpr int kMostMessages = 20;

std::int64_t count_of(SQLite::Database& db, const char* sql) {
  return db.execAndGet(sql).getInt64();
}

/// Adds a problem if the query counts any rows.
void add_counted(StoreCheck& check, SQLite::Database& db, Kind kind, const char* what,
                 const char* sql) {
  const std::int64_t count = count_of(db, sql);
  if (count > 0) check.problems.push_back({kind, count, std::to_string(count) + what});
}

void check_pages(StoreCheck& check, SQLite::Database& db) {
  SQLite::Statement query(db, "PRAGMA integrity_check(" + std::to_string(kMostMessages) + ")");
  std::vector<std::string> messages;
  while (query.executeStep()) messages.push_back(query.getColumn(0).getString());
  if (messages.empty() || (messages.size() == 1 && messages.front() == "ok")) return;
  check.problems.push_back({Kind::pages, static_cast<std::int64_t>(messages.size()),
                            "the file is damaged: " + escape_text(join(messages, "; "))});
}

void check_references(StoreCheck& check, SQLite::Database& db) {
  SQLite::Statement query(db, "PRAGMA foreign_key_check");
  std::map<std::pair<std::string, std::string>, std::int64_t> counts;
  while (query.executeStep())
    ++counts[{query.getColumn(0).getString(), query.getColumn(2).getString()}];
  for (const auto& [tables, count] : counts)
    check.problems.push_back({Kind::references, count,
                              std::to_string(count) + " rows of " + tables.first +
                                  " refer to rows of " + tables.second + " that do not exist"});
  add_counted(check, db, Kind::references, " jobs belong to runs that do not exist",
              "SELECT count(*) FROM submissions s WHERE s.run <> '' AND NOT EXISTS "
              "(SELECT 1 FROM runs r WHERE r.run = s.run)");
}

void check_sizes(StoreCheck& check, SQLite::Database& db) {
  add_counted(check, db, Kind::sizes, " artifacts have no size, or a wrong one",
              "SELECT count(*) FROM artifacts a LEFT JOIN artifact_sizes s "
              "ON s.artifact = a.artifact WHERE s.size_bytes IS NULL OR s.size_bytes <> "
              "length(a.bytes) + length(CAST(a.kind AS BLOB)) + length(CAST(a.name AS BLOB))");
  add_counted(check, db, Kind::sizes, " owners of artifacts have a wrong sum",
              "SELECT count(*) FROM artifact_owners o WHERE o.size_bytes <> "
              "(SELECT ifnull(sum(s.size_bytes), 0) FROM artifact_sizes s "
              "WHERE s.owner = o.owner AND s.scored = o.scored)");
  add_counted(
      check, db, Kind::sizes, " callers have a wrong sum of their jobs",
      "SELECT count(*) FROM caller_sizes c WHERE c.size_bytes <> "
      "(SELECT ifnull(sum(length(CAST(s.source AS BLOB)) + length(CAST(s.request AS BLOB)) "
      "+ ifnull(length(CAST(v.document AS BLOB)), 0)), 0) FROM submissions s "
      "LEFT JOIN runs r ON r.run = s.run LEFT JOIN verdicts v ON v.job = s.job WHERE "
      "s.caller = c.caller AND c.scored = (r.track IS NOT NULL AND r.track <> 'practice'))");
}

void check_verdicts(StoreCheck& check, SQLite::Database& db) {
  add_counted(check, db, Kind::verdicts, " finished jobs have no verdict",
              "SELECT count(*) FROM submissions s WHERE s.finished_unix_ms IS NOT NULL AND NOT "
              "EXISTS (SELECT 1 FROM verdicts v WHERE v.job = s.job)");
  add_counted(check, db, Kind::verdicts, " unfinished jobs have a verdict",
              "SELECT count(*) FROM submissions s WHERE s.finished_unix_ms IS NULL AND EXISTS "
              "(SELECT 1 FROM verdicts v WHERE v.job = s.job)");
  SQLite::Statement query(db, "SELECT job, document FROM verdicts");
  std::int64_t unreadable = 0;
  while (query.executeStep())
    unreadable +=
        verdict_of(query.getColumn(1).getString(), query.getColumn(0).getString()) ? 0 : 1;
  if (unreadable > 0)
    check.problems.push_back(
        {Kind::verdicts, unreadable, std::to_string(unreadable) + " verdicts cannot be read"});
}

}  // namespace

Result<StoreCheck> check_store(const std::filesystem::path& path) {
  ASSAY_RETURN_IF_ERROR(check_store_exists(path));
  try {
    // No quick check first, because the complete check below reports more.
    SQLite::Database db(path.string(), SQLite::OPEN_READONLY, kBusyTimeoutMs);
    ASSAY_RETURN_IF_ERROR(check_store_identity(db, path));
    ASSAY_RETURN_IF_ERROR(prepare_for_reading(db, path));
    const SQLite::Transaction snapshot(db);
    StoreCheck check;
    check_pages(check, db);
    if (!check.problems.empty()) return check;  // further queries could fail or lie
    check_references(check, db);
    // Older schemas have no sizes. The migration adds them.
    if (count_of(db, "PRAGMA user_version") == kSchemaVersion) check_sizes(check, db);
    check_verdicts(check, db);
    check.jobs = count_of(db, "SELECT count(*) FROM submissions");
    check.unfinished_jobs =
        count_of(db, "SELECT count(*) FROM submissions WHERE finished_unix_ms IS NULL");
    return check;
  } catch (const SQLite::Exception& error) {
    return fail(sqlite_error(error, path));
  }
}

}  // namespace assay::server
