// Contains the tables of version 3, as the releases with this version created them.
#pragma once

namespace assay::testing {

inline constexpr const char* kSchemaVersion3Sql = R"sql(
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
  at_unix_ms INTEGER NOT NULL,
  cost_known INTEGER NOT NULL DEFAULT 0
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
  finished_unix_ms INTEGER,
  caller TEXT NOT NULL DEFAULT ''
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
CREATE TABLE artifact_sizes (
  artifact TEXT PRIMARY KEY REFERENCES artifacts(artifact),
  scored INTEGER NOT NULL,
  owner TEXT NOT NULL,
  size_bytes INTEGER NOT NULL,
  at_unix_ms INTEGER NOT NULL
) STRICT;
CREATE INDEX artifact_sizes_by_age ON artifact_sizes(scored, at_unix_ms);
CREATE INDEX artifact_sizes_by_owner ON artifact_sizes(owner, scored, at_unix_ms);
CREATE TABLE artifact_owners (
  owner TEXT NOT NULL,
  scored INTEGER NOT NULL,
  size_bytes INTEGER NOT NULL,
  PRIMARY KEY (owner, scored)
) STRICT;
CREATE TRIGGER artifact_added AFTER INSERT ON artifact_sizes BEGIN
  INSERT INTO artifact_owners VALUES (new.owner, new.scored, new.size_bytes)
    ON CONFLICT DO UPDATE SET size_bytes = size_bytes + excluded.size_bytes;
END;
CREATE TRIGGER artifact_removed AFTER DELETE ON artifact_sizes BEGIN
  UPDATE artifact_owners SET size_bytes = size_bytes - old.size_bytes
    WHERE owner = old.owner AND scored = old.scored;
END;
CREATE TABLE tasks (
  task TEXT PRIMARY KEY,
  principal TEXT NOT NULL,
  status TEXT NOT NULL,
  message TEXT NOT NULL,
  outcome TEXT NOT NULL,
  created_unix_ms INTEGER NOT NULL,
  updated_unix_ms INTEGER NOT NULL,
  ends_unix_ms INTEGER NOT NULL
) STRICT;
CREATE INDEX tasks_by_end ON tasks(ends_unix_ms);
)sql";

}  // namespace assay::testing
