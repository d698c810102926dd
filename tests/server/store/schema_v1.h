// Contains the schema of version 1, as the last releases with this version wrote it. Migration
// starts from these tables.
#pragma once

namespace assay::testing {

inline constexpr const char* kSchemaVersion1Sql = R"sql(
CREATE TABLE runs (
  run TEXT PRIMARY KEY,
  agent TEXT NOT NULL,
  model TEXT NOT NULL,
  track TEXT NOT NULL,
  suite TEXT NOT NULL,
  operators TEXT NOT NULL,
  compiles INTEGER NOT NULL,
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
  run TEXT NOT NULL,
  operator TEXT NOT NULL,
  kind TEXT NOT NULL,
  device TEXT NOT NULL,
  state TEXT NOT NULL,
  source TEXT NOT NULL,
  source_sha256 TEXT NOT NULL,
  request TEXT NOT NULL,
  attempts INTEGER NOT NULL,
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
  job TEXT REFERENCES submissions(job),
  refunded INTEGER NOT NULL DEFAULT 0,
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
  document TEXT NOT NULL,
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

/// The tables that a later release added to version 1 without a new version number. The first
/// releases have none of these tables.
inline constexpr const char* kLaterInVersion1Sql = R"sql(
CREATE TABLE IF NOT EXISTS tasks (
  task TEXT PRIMARY KEY,
  principal TEXT NOT NULL,
  status TEXT NOT NULL,
  message TEXT NOT NULL,
  outcome TEXT NOT NULL,
  created_unix_ms INTEGER NOT NULL,
  updated_unix_ms INTEGER NOT NULL,
  ends_unix_ms INTEGER NOT NULL
) STRICT;
CREATE INDEX IF NOT EXISTS tasks_by_end ON tasks(ends_unix_ms);

CREATE TABLE IF NOT EXISTS free_usage (
  usage INTEGER PRIMARY KEY REFERENCES usage(id)
) STRICT;
)sql";

}  // namespace assay::testing
