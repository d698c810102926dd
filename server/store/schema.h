// The store's tables and their version (PRAGMA user_version). A store of an older version would be
// migrated here, step by step; one of a newer version is refused and left as it is.
// docs/reference/store.md describes the tables.
#pragma once

namespace assay::server {

inline constexpr int kSchemaVersion = 1;
/// PRAGMA application_id, "ASSY": tells a store from any other SQLite file.
inline constexpr int kApplicationId = 0x41535359;

inline constexpr const char* kSchemaSql = R"sql(
CREATE TABLE runs (
  run TEXT PRIMARY KEY,
  agent TEXT NOT NULL,
  model TEXT NOT NULL,
  track TEXT NOT NULL,
  suite TEXT NOT NULL,
  operators TEXT NOT NULL,             -- names in catalog order, comma-separated
  compiles INTEGER NOT NULL,           -- budgets per operator; -1 is unlimited
  tests INTEGER NOT NULL,
  profiles INTEGER NOT NULL,
  submissions INTEGER NOT NULL,
  run_wall_s INTEGER NOT NULL,
  created_unix_ms INTEGER NOT NULL,
  expires_unix_ms INTEGER NOT NULL
) STRICT;
CREATE TABLE usage (
  id INTEGER PRIMARY KEY,
  run TEXT NOT NULL REFERENCES runs(run),
  input_tokens INTEGER NOT NULL,
  output_tokens INTEGER NOT NULL,
  cost_usd REAL NOT NULL,
  at_unix_ms INTEGER NOT NULL
) STRICT;
CREATE INDEX usage_by_run ON usage(run);
CREATE TABLE submissions (
  job TEXT PRIMARY KEY,
  run TEXT NOT NULL,                   -- empty: practice without a run
  operator TEXT NOT NULL,
  kind TEXT NOT NULL,
  device TEXT NOT NULL,
  state TEXT NOT NULL,                 -- queued until it is over: what runs is known to the process alone
  source TEXT NOT NULL,
  source_sha256 TEXT NOT NULL,
  request TEXT NOT NULL,               -- assay.job/1 without the source
  attempts INTEGER NOT NULL,           -- starts of a server that took it up
  queued_unix_ms INTEGER NOT NULL,
  finished_unix_ms INTEGER
) STRICT;
CREATE INDEX submissions_by_run ON submissions(run, operator, kind);
CREATE INDEX submissions_unfinished ON submissions(queued_unix_ms) WHERE finished_unix_ms IS NULL;
CREATE TABLE tool_calls (
  id INTEGER PRIMARY KEY,
  run TEXT NOT NULL REFERENCES runs(run),
  operator TEXT NOT NULL,
  kind TEXT NOT NULL,
  source_sha256 TEXT NOT NULL,
  job TEXT REFERENCES submissions(job), -- NULL until the job is accepted
  refunded INTEGER NOT NULL DEFAULT 0, -- 1: does not count against the budget; a one_shot source stays locked
  at_unix_ms INTEGER NOT NULL
) STRICT;
CREATE INDEX tool_calls_by_run ON tool_calls(run, operator, kind);
CREATE INDEX tool_calls_by_job ON tool_calls(job);
CREATE TABLE verdicts (
  job TEXT PRIMARY KEY REFERENCES submissions(job),
  outcome TEXT NOT NULL,
  error_kind TEXT NOT NULL,
  tier TEXT NOT NULL,
  perf REAL,
  document TEXT NOT NULL,              -- assay.verdict/1
  at_unix_ms INTEGER NOT NULL
) STRICT;
CREATE TABLE artifacts (
  artifact TEXT PRIMARY KEY,
  job TEXT NOT NULL REFERENCES submissions(job),
  kind TEXT NOT NULL,
  name TEXT NOT NULL,
  bytes BLOB NOT NULL,
  at_unix_ms INTEGER NOT NULL
) STRICT;
CREATE INDEX artifacts_by_job ON artifacts(job);
)sql";

/// A table that older versions neither have nor mind: made where it is missing, without another
/// version.
inline constexpr const char* kTasksSql = R"sql(
CREATE TABLE IF NOT EXISTS tasks (
  task TEXT PRIMARY KEY,
  principal TEXT NOT NULL,             -- the token's name; empty: anybody
  status TEXT NOT NULL,
  message TEXT NOT NULL,
  outcome TEXT NOT NULL,               -- JSON: a tool's result, a JSON-RPC error, or null
  created_unix_ms INTEGER NOT NULL,
  updated_unix_ms INTEGER NOT NULL,
  ends_unix_ms INTEGER NOT NULL        -- the row may be deleted afterwards
) STRICT;
CREATE INDEX IF NOT EXISTS tasks_by_end ON tasks(ends_unix_ms);
)sql";

/// Tells a cost of 0 from one that nobody named; made like `tasks`.
inline constexpr const char* kFreeUsageSql = R"sql(
CREATE TABLE IF NOT EXISTS free_usage (
  usage INTEGER PRIMARY KEY REFERENCES usage(id) -- a report that said that it cost nothing; where another one has 0, its cost is not known
) STRICT;
)sql";
inline constexpr const char* kFreeUsageTable = "free_usage";

}  // namespace assay::server
