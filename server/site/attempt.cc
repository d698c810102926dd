#include "server/site/attempt.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <string>
#include <utility>

#include "base/log.h"
#include "base/text.h"
#include "tools/json/verdict_json.h"
#include "tools/model/public_verdict.h"

namespace assay::site {
namespace {

using nlohmann::json;
using nlohmann::ordered_json;

constexpr std::array kColumns = {"group",
                                 "operator",
                                 "sample",
                                 "label",
                                 "outcome",
                                 "error_kind",
                                 "error_type",
                                 "error_group",
                                 "died_at",
                                 "tier",
                                 "tool_calls",
                                 "lines",
                                 "submitted_unix_ms",
                                 "job",
                                 "explanation",
                                 "check",
                                 "check_note",
                                 "details_part",
                                 "details_entry"};

/// Returns null for a value that JSON cannot express.
ordered_json metric_json(const std::optional<double>& value) {
  if (!value || !std::isfinite(*value)) return nullptr;
  return *value;
}

/// Returns the public verdict. The raw samples of the times stay in the store, because they are
/// most of a verdict.
json verdict_of_page(const sandbox::Verdict& verdict, const operators::Operator* op,
                     bool shows_sources) {
  json shown = tools::verdict_to_json(tools::public_verdict(verdict, op).verdict());
  for (const char* key : {"artifacts", "artifacts_dropped"}) shown.erase(key);
  if (!shows_sources) {
    for (const char* key : {"detail", "diagnostic", "stdout", "stderr", "hints"}) shown.erase(key);
  }
  for (json& record : shown["cases"]) {
    for (const char* key : {"latency", "baseline_latency"}) {
      if (record.contains(key)) record[key].erase("samples_ns");
    }
  }
  return shown;
}

}  // namespace

std::string_view to_string(ShownSources sources) {
  switch (sources) {
    case ShownSources::none: return "none";
    case ShownSources::models: return "models";
    case ShownSources::all: break;
  }
  return "all";
}

Result<ShownSources> shown_sources_from(const std::string& text) {
  for (const ShownSources sources : {ShownSources::none, ShownSources::models, ShownSources::all}) {
    if (text == to_string(sources)) return sources;
  }
  return fail(ErrorCode::invalid_argument,
              "unknown sources '" + escape_text(text) + "'; valid: models, none, all");
}

std::vector<std::string> attempt_columns() {
  std::vector<std::string> names(kColumns.begin(), kColumns.end());
  for (const report::Metric& metric : report::all_metrics()) names.emplace_back(metric.key);
  return names;
}

ordered_json attempt_row(const AttemptPlace& place, const report::ReportRow& row,
                         const server::StoredJob* graded, const Check& check) {
  ordered_json lines, submitted;
  if (graded != nullptr) {
    if (!graded->source.empty())
      lines = std::count(graded->source.begin(), graded->source.end(), '\n') + 1;
    submitted = graded->queued_unix_ms;
  }
  ordered_json values = ordered_json::array(
      {place.group, place.op, row.sample, report::to_string(row.label), row.outcome, row.error_kind,
       row.error_type, row.error_group, row.failure ? row.failure->stage : "", row.tier,
       row.tool_calls, std::move(lines), std::move(submitted), row.job, row.explanation,
       to_string(check.state), check.note, place.details_part, place.details_entry});
  for (const report::Metric& metric : report::all_metrics())
    values.push_back(metric_json(metric.of(row)));
  while (values.back().is_null()) values.erase(values.size() - 1);
  return values;
}

ordered_json attempt_details(const report::ReportRow& row,
                             const std::vector<server::StoredJob>& jobs,
                             const operators::Operator* op, bool shows_sources,
                             const std::optional<transcripts::Transcript>& transcript) {
  ordered_json shown;  // null: there is no transcript, or it is not shown
  if (shows_sources && transcript) shown = transcripts::transcript_json(*transcript);
  ordered_json calls = ordered_json::array();
  ordered_json sources = ordered_json::array();
  std::map<std::string, std::size_t> places;  // of sources, by their text
  for (const server::StoredJob& job : jobs) {
    const auto [place, is_new] = places.emplace(job.source, sources.size());
    if (is_new)
      sources.push_back({{"sha256", job.source_sha256},
                         {"text", shows_sources ? ordered_json(job.source) : ordered_json()}});
    const std::optional<sandbox::JobKind> kind = sandbox::job_kind_from(job.kind);
    ordered_json elapsed, verdict;
    if (job.finished_unix_ms && kind)
      elapsed = tools::shown_elapsed_ms(*kind, *job.finished_unix_ms - job.queued_unix_ms);
    if (job.verdict) verdict = verdict_of_page(*job.verdict, op, shows_sources);
    calls.push_back({{"job", job.job},
                     {"kind", job.kind},
                     {"state", job.state},
                     {"queued_unix_ms", job.queued_unix_ms},
                     {"elapsed_ms", std::move(elapsed)},
                     {"source", place->second},
                     {"verdict", std::move(verdict)}});
  }
  return {{"graded", jobs.empty() ? "" : row.job},
          {"tier_reason", row.tier_reason},
          {"calls", std::move(calls)},
          {"sources", std::move(sources)},
          {"transcript", std::move(shown)}};
}

Result<std::optional<transcripts::Transcript>> shown_transcript(
    server::Store& store, const std::string& run, const std::string& operator_name,
    std::optional<std::size_t> most_bytes) {
  ASSAY_TRY(document, store.transcript(run, operator_name));
  if (!document) return std::optional<transcripts::Transcript>();
  Result<transcripts::Transcript> transcript = transcripts::parse_transcript(*document);
  if (!transcript) {
    log::warning(
        "a transcript cannot be shown",
        {{"run", run}, {"operator", operator_name}, {"error", transcript.error().message}});
    return std::optional<transcripts::Transcript>();
  }
  if (!most_bytes) return std::optional(std::move(*transcript));
  transcripts::TranscriptLimits limits;
  limits.all_bytes = *most_bytes;
  return std::optional(transcripts::bounded(std::move(*transcript), limits));
}

}  // namespace assay::site
