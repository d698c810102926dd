// Defines the store's tables and the version of their schema, which SQLite keeps as PRAGMA
// user_version. When a store with an older version is opened for writing, it is migrated, one
// version at a time. A store with a newer version is refused and not changed.
// docs/reference/store.md describes the tables.
#pragma once

namespace assay::server {

inline constexpr int kSchemaVersion = 10;
/// The value of PRAGMA application_id: the letters "ASSY". It distinguishes a store from other
/// SQLite files.
inline constexpr int kApplicationId = 0x41535359;

inline constexpr const char* kSchemaSql = R"sql(
CREATE TABLE runs (
  run TEXT PRIMARY KEY,
  agent TEXT NOT NULL,
  model TEXT NOT NULL,
  track TEXT NOT NULL,
  suite TEXT NOT NULL,
  operators TEXT NOT NULL,             -- names in catalog order, separated by commas
  compiles INTEGER NOT NULL,           -- budgets per operator; -1 is unlimited
  tests INTEGER NOT NULL,
  profiles INTEGER NOT NULL,
  submissions INTEGER NOT NULL,
  run_wall_s INTEGER NOT NULL,
  created_unix_ms INTEGER NOT NULL,
  expires_unix_ms INTEGER NOT NULL,
  principal TEXT NOT NULL DEFAULT '',  -- the owner: name of the client's token; empty: no tokens
  suite_name TEXT NOT NULL DEFAULT '', -- the suite of the operators; empty in runs of older versions
  suite_version TEXT NOT NULL DEFAULT '',
  suite_digest TEXT NOT NULL DEFAULT ''
) STRICT;
CREATE TABLE ended_runs (              -- runs that a call found to be over; they never begin again
  run TEXT PRIMARY KEY REFERENCES runs(run),
  at_unix_ms INTEGER NOT NULL
) STRICT;
CREATE TABLE usage (
  id INTEGER PRIMARY KEY,
  run TEXT NOT NULL REFERENCES runs(run),
  input_tokens INTEGER NOT NULL,
  output_tokens INTEGER NOT NULL,
  cost_usd REAL NOT NULL,
  at_unix_ms INTEGER NOT NULL,
  cost_known INTEGER NOT NULL DEFAULT 0 -- 0: the report named no cost, and cost_usd is 0
) STRICT;
CREATE INDEX usage_by_run ON usage(run);
CREATE TABLE submissions (
  job TEXT PRIMARY KEY,
  run TEXT NOT NULL,                   -- empty: unscored practice
  operator TEXT NOT NULL,
  kind TEXT NOT NULL,
  device TEXT NOT NULL,
  state TEXT NOT NULL,                 -- queued until the job has a verdict, even while it runs
  source TEXT NOT NULL,
  source_sha256 TEXT NOT NULL,
  request TEXT NOT NULL,               -- assay.job/1 without the source
  attempts INTEGER NOT NULL,           -- number of server starts that queued the job again
  queued_unix_ms INTEGER NOT NULL,
  finished_unix_ms INTEGER,
  caller TEXT NOT NULL DEFAULT ''      -- the owner: name of the client's token; empty: no tokens
) STRICT;
CREATE INDEX submissions_by_run ON submissions(run, operator, kind);
CREATE INDEX submissions_unfinished ON submissions(queued_unix_ms) WHERE finished_unix_ms IS NULL;
CREATE TABLE tool_calls (
  id INTEGER PRIMARY KEY,
  run TEXT NOT NULL REFERENCES runs(run),
  operator TEXT NOT NULL,
  kind TEXT NOT NULL,
  source_sha256 TEXT NOT NULL,
  job TEXT REFERENCES submissions(job), -- NULL in rows of version 1 whose charge was refunded before the job was stored
  refunded INTEGER NOT NULL DEFAULT 0, -- 1: the call does not count against the budget; a one_shot source stays locked
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
  document TEXT NOT NULL,              -- assay.verdict/2; older rows have /1
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
CREATE TABLE artifact_sizes (          -- one row for each artifact, so that limits do not read contents
  artifact TEXT PRIMARY KEY REFERENCES artifacts(artifact),
  scored INTEGER NOT NULL,             -- 1: of a scored run. 0: of practice, so it expires
  owner TEXT NOT NULL,                 -- the scored run, or the caller of the practice
  size_bytes INTEGER NOT NULL,         -- content, kind and name
  at_unix_ms INTEGER NOT NULL
) STRICT;
CREATE INDEX artifact_sizes_by_age ON artifact_sizes(scored, at_unix_ms);
CREATE INDEX artifact_sizes_by_owner ON artifact_sizes(owner, scored, at_unix_ms);
CREATE TABLE artifact_owners (         -- sums of artifact_sizes; the triggers keep them right
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
  principal TEXT NOT NULL,             -- name of the client's token; empty: any client
  status TEXT NOT NULL,
  message TEXT NOT NULL,
  outcome TEXT NOT NULL,               -- JSON: the result of a tool, a JSON-RPC error, or null
  created_unix_ms INTEGER NOT NULL,
  updated_unix_ms INTEGER NOT NULL,
  ends_unix_ms INTEGER NOT NULL        -- after this the row may be deleted
) STRICT;
CREATE INDEX tasks_by_end ON tasks(ends_unix_ms);
)sql";

/// Migrates a store from version 1 to version 2. Three things differ in version 1:
///
/// - If the cost of a row of `usage` is known to be 0, the row is listed in a table `free_usage`.
/// - A call is charged before its job is stored.
/// - Files of the first releases have no tables `free_usage` and `tasks`.
inline constexpr const char* kMigrateFromVersion1Sql = R"sql(
CREATE TABLE IF NOT EXISTS free_usage (usage INTEGER PRIMARY KEY REFERENCES usage(id)) STRICT;
ALTER TABLE usage ADD COLUMN cost_known INTEGER NOT NULL DEFAULT 0;
UPDATE usage SET cost_known = 1 WHERE cost_usd > 0 OR id IN (SELECT usage FROM free_usage);
DROP TABLE free_usage;
UPDATE tool_calls SET refunded = 1 WHERE job IS NULL;
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
)sql";

/// Migrates a store from version 2 to version 3. Version 2 has no limits for artifacts, so it
/// contains neither the sizes nor the owners of artifacts. The migration adds both.
inline constexpr const char* kMigrateFromVersion2Sql = R"sql(
ALTER TABLE submissions ADD COLUMN caller TEXT NOT NULL DEFAULT '';
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
INSERT INTO artifact_sizes
  SELECT a.artifact, r.track IS NOT NULL AND r.track <> 'practice',
         CASE WHEN r.track IS NOT NULL AND r.track <> 'practice' THEN s.run ELSE '' END,
         length(a.bytes) + length(CAST(a.kind AS BLOB)) + length(CAST(a.name AS BLOB)), a.at_unix_ms
  FROM artifacts a JOIN submissions s ON s.job = a.job LEFT JOIN runs r ON r.run = s.run
  ORDER BY a.rowid;
)sql";

/// Migrates a store from version 3 to version 4. In version 3, a run has no owner. The migrated
/// runs belong to the principal with the empty name, because nobody knows who started them.
inline constexpr const char* kMigrateFromVersion3Sql = R"sql(
ALTER TABLE runs ADD COLUMN principal TEXT NOT NULL DEFAULT '';
)sql";

/// Migrates a store from version 4 to version 5. In version 4, only the clock ends a run.
inline constexpr const char* kMigrateFromVersion4Sql = R"sql(
CREATE TABLE ended_runs (
  run TEXT PRIMARY KEY REFERENCES runs(run),
  at_unix_ms INTEGER NOT NULL
) STRICT;
)sql";

/// Creates the sums of what the jobs of each caller store. Part of the schema since version 6.
inline constexpr const char* kCallerSizesSql = R"sql(
CREATE INDEX submissions_by_caller ON submissions(caller, queued_unix_ms);
CREATE TABLE caller_sizes (            -- sums of sources, requests and verdicts; the triggers keep them right
  caller TEXT NOT NULL,
  scored INTEGER NOT NULL,             -- 1: jobs of scored runs. 0: of practice, so they can be removed
  size_bytes INTEGER NOT NULL,
  PRIMARY KEY (caller, scored)
) STRICT;
CREATE TRIGGER submission_added AFTER INSERT ON submissions BEGIN
  INSERT INTO caller_sizes VALUES (new.caller,
      (SELECT count(*) FROM runs WHERE run = new.run AND track <> 'practice'),
      length(CAST(new.source AS BLOB)) + length(CAST(new.request AS BLOB)))
    ON CONFLICT DO UPDATE SET size_bytes = size_bytes + excluded.size_bytes;
END;
CREATE TRIGGER submission_removed AFTER DELETE ON submissions BEGIN
  UPDATE caller_sizes SET size_bytes = size_bytes - length(CAST(old.source AS BLOB))
      - length(CAST(old.request AS BLOB))
    WHERE caller = old.caller
      AND scored = (SELECT count(*) FROM runs WHERE run = old.run AND track <> 'practice');
END;
CREATE TRIGGER verdict_added AFTER INSERT ON verdicts BEGIN
  UPDATE caller_sizes SET size_bytes = size_bytes + length(CAST(new.document AS BLOB))
    WHERE (caller, scored) = (
      SELECT s.caller, r.track IS NOT NULL AND r.track <> 'practice'
      FROM submissions s LEFT JOIN runs r ON r.run = s.run WHERE s.job = new.job);
END;
CREATE TRIGGER verdict_removed AFTER DELETE ON verdicts BEGIN
  UPDATE caller_sizes SET size_bytes = size_bytes - length(CAST(old.document AS BLOB))
    WHERE (caller, scored) = (
      SELECT s.caller, r.track IS NOT NULL AND r.track <> 'practice'
      FROM submissions s LEFT JOIN runs r ON r.run = s.run WHERE s.job = old.job);
END;
)sql";

/// Migrates a store from version 5 to version 6, after kCallerSizesSql has created the empty sums.
inline constexpr const char* kMigrateFromVersion5Sql = R"sql(
INSERT INTO caller_sizes
  SELECT s.caller, r.track IS NOT NULL AND r.track <> 'practice' AS is_scored,
         sum(length(CAST(s.source AS BLOB)) + length(CAST(s.request AS BLOB))
             + ifnull(length(CAST(v.document AS BLOB)), 0))
  FROM submissions s LEFT JOIN runs r ON r.run = s.run LEFT JOIN verdicts v ON v.job = s.job
  GROUP BY s.caller, is_scored;
)sql";

/// Migrates a store from version 6 to version 7. In version 6, a run does not say which suite its
/// operators are from, and the migrated runs do not get one, because nobody knows it.
inline constexpr const char* kMigrateFromVersion6Sql = R"sql(
ALTER TABLE runs ADD COLUMN suite_name TEXT NOT NULL DEFAULT '';
ALTER TABLE runs ADD COLUMN suite_version TEXT NOT NULL DEFAULT '';
ALTER TABLE runs ADD COLUMN suite_digest TEXT NOT NULL DEFAULT '';
)sql";

/// Creates the tables of what others add to runs. Part of the schema since version 8.
inline constexpr const char* kAdditionsSql = R"sql(
CREATE TABLE transcripts (             -- what a model and an agent said and did at an operator
  run TEXT NOT NULL REFERENCES runs(run),
  operator TEXT NOT NULL,
  document TEXT NOT NULL,              -- assay.transcript/1
  at_unix_ms INTEGER NOT NULL,
  PRIMARY KEY (run, operator)
) STRICT;
CREATE TABLE imported_runs (           -- runs whose verdicts `assay import verdicts` read from a file
  run TEXT PRIMARY KEY REFERENCES runs(run),
  provenance TEXT NOT NULL             -- where they are from, in words
) STRICT;
)sql";

/// Adds the file of an imported run. Part of the schema since version 9; the runs of a store of
/// version 8 do not say which file they are from.
inline constexpr const char* kImportedFilesSql = R"sql(
ALTER TABLE imported_runs ADD COLUMN file_sha256 TEXT NOT NULL DEFAULT '';
)sql";

/// Adds the ids of charged calls, of calls that start a run, and of reports of usage. With an id, a
/// client can safely repeat the call. Part of the schema since version 10; the calls of older
/// versions have no id.
inline constexpr const char* kCallIdsSql = R"sql(
ALTER TABLE tool_calls ADD COLUMN call_id TEXT;  -- NULL: the client named none, or it is free again
CREATE UNIQUE INDEX tool_calls_by_call_id ON tool_calls(run, call_id);
ALTER TABLE runs ADD COLUMN call_id TEXT;        -- of the call that started the run
CREATE UNIQUE INDEX runs_by_call_id ON runs(principal, call_id);
ALTER TABLE usage ADD COLUMN call_id TEXT;
CREATE UNIQUE INDEX usage_by_call_id ON usage(run, call_id);
)sql";

/// Creates what the pages of a running server read at every look, so that a look does not read all
/// jobs of a principal. Part of the schema since version 8.
inline constexpr const char* kLiveSql = R"sql(
CREATE INDEX runs_by_principal ON runs(principal, created_unix_ms);
CREATE INDEX submissions_by_time ON submissions(run, queued_unix_ms);
CREATE INDEX submissions_graded ON submissions(run, operator) WHERE kind = 'grade';
CREATE TABLE revisions (               -- the triggers increase the number when results change
  principal TEXT PRIMARY KEY,
  number INTEGER NOT NULL
) STRICT;
CREATE TRIGGER run_revised AFTER INSERT ON runs BEGIN
  INSERT INTO revisions VALUES (new.principal, 1) ON CONFLICT DO UPDATE SET number = number + 1;
END;
CREATE TRIGGER removed_run_revised AFTER DELETE ON runs BEGIN
  INSERT INTO revisions VALUES (old.principal, 1) ON CONFLICT DO UPDATE SET number = number + 1;
END;
CREATE TRIGGER submission_revised AFTER INSERT ON submissions BEGIN
  INSERT INTO revisions VALUES (new.caller, 1) ON CONFLICT DO UPDATE SET number = number + 1;
END;
CREATE TRIGGER finished_submission_revised AFTER UPDATE OF finished_unix_ms ON submissions BEGIN
  INSERT INTO revisions VALUES (new.caller, 1) ON CONFLICT DO UPDATE SET number = number + 1;
END;
CREATE TRIGGER removed_submission_revised AFTER DELETE ON submissions BEGIN
  INSERT INTO revisions VALUES (old.caller, 1) ON CONFLICT DO UPDATE SET number = number + 1;
END;
CREATE TRIGGER usage_revised AFTER INSERT ON usage BEGIN
  INSERT INTO revisions SELECT principal, 1 FROM runs WHERE run = new.run
    ON CONFLICT DO UPDATE SET number = number + 1;
END;
CREATE TRIGGER transcript_revised AFTER INSERT ON transcripts BEGIN
  INSERT INTO revisions SELECT principal, 1 FROM runs WHERE run = new.run
    ON CONFLICT DO UPDATE SET number = number + 1;
END;
)sql";

/// Makes a store of a version before 7 look like the current version to a read-only connection.
inline constexpr const char* kReadBeforeVersion7Sql = R"sql(
CREATE TEMP VIEW runs AS
  SELECT *, '' AS suite_name, '' AS suite_version, '' AS suite_digest FROM main.runs
)sql";

/// Makes a store of version 1 look like the current version to a read-only connection. This works
/// because a temporary view has precedence over the table of the same name. The second statement is
/// for files that have a table `free_usage`.
inline constexpr const char* kReadVersion1Sql = R"sql(
CREATE TEMP VIEW usage AS SELECT *, cost_usd > 0 AS cost_known FROM main.usage
)sql";
inline constexpr const char* kReadVersion1WithFreeUsageSql = R"sql(
CREATE TEMP VIEW usage AS
  SELECT *, cost_usd > 0 OR id IN (SELECT usage FROM main.free_usage) AS cost_known FROM main.usage
)sql";

}  // namespace assay::server
