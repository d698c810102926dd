// Converts verdicts and jobs to JSON and back. The format of a Verdict is "assay.verdict/2"
// (docs/reference/verdict.md); the format of a Job is "assay.job/1". The store, the tools, `assay
// eval` and the reports read and write verdicts in this format. The store keeps an unfinished job
// as JSON, so that the job can run after a restart. Pure functions, thread-safe.
//
//   const nlohmann::json document = verdict_to_json(verdict);
//   const Result<sandbox::Verdict> again = verdict_from_json(document);
//
// A verdict that is read back equals the verdict that was written, except that its texts are
// escaped.
#pragma once

#include "base/json.h"
#include "base/result.h"
#include "sandbox/job/job.h"

namespace assay::tools {

inline constexpr const char* kVerdictFormatName = "assay.verdict/2";
/// The name of the older format, in which hints and skipped cases are sentences. This format can
/// still be read, because stores keep verdicts for years.
inline constexpr const char* kOlderVerdictFormatName = "assay.verdict/1";

/// Writes every field of the verdict. Untrusted text is escaped (base/text.h).
nlohmann::json verdict_to_json(const sandbox::Verdict& verdict);
/// Reads a verdict. Errors: corrupt if a field is missing or wrong, and the message names the first
/// such field.
Result<sandbox::Verdict> verdict_from_json(const nlohmann::json& document);

/// Writes every field of the job. The source is not escaped.
nlohmann::json job_to_json(const sandbox::Job& job);
Result<sandbox::Job> job_from_json(const nlohmann::json& document);

}  // namespace assay::tools
