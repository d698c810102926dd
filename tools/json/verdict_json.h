// The JSON forms of a Verdict, "assay.verdict/2" (docs/reference/verdict.md), and of a Job,
// "assay.job/1". The store, the tools, `assay eval` and the reports read and write verdicts in this
// form. The store keeps an unfinished job as JSON, so that it can run after a restart. Pure
// functions, thread-safe.
//
//   const nlohmann::json document = verdict_to_json(verdict);
//   const Result<sandbox::Verdict> again = verdict_from_json(document);
//
// A verdict that is read back equals the one that was written, except that its texts are escaped.
#pragma once

#include <nlohmann/json.hpp>

#include "base/result.h"
#include "sandbox/job/job.h"

namespace assay::tools {

inline constexpr const char* kVerdictFormatName = "assay.verdict/2";
/// In this format hints and skipped cases are sentences. It is still read, because stores keep
/// verdicts for years.
inline constexpr const char* kOlderVerdictFormatName = "assay.verdict/1";

/// Writes every field. Untrusted text is escaped (base/text.h).
nlohmann::json verdict_to_json(const sandbox::Verdict& verdict);
/// The error `corrupt` names the first field that is missing or wrong.
Result<sandbox::Verdict> verdict_from_json(const nlohmann::json& document);

/// The source is not escaped.
nlohmann::json job_to_json(const sandbox::Job& job);
Result<sandbox::Job> job_from_json(const nlohmann::json& document);

}  // namespace assay::tools
