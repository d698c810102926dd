// The JSON form of a Verdict, "assay.verdict/2" (docs/reference/verdict.md), and what of it an
// agent may see. The store, the tools, `assay eval` and the reports all read this form. Pure
// functions, thread-safe.
//
//   json document = verdict_to_json(verdict);
//   Result<Verdict> again = verdict_from_json(document);     // equal, but for text that was
//   escaped on the way out
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "base/result.h"
#include "sandbox/job/job.h"

namespace assay::tools {

inline constexpr const char* kVerdictFormatName = "assay.verdict/2";
/// Its hints and skipped cases are sentences. It is still read: stores keep verdicts for years.
inline constexpr const char* kOlderVerdictFormatName = "assay.verdict/1";

/// Every field. Untrusted text is escaped (base/escape.h).
nlohmann::json verdict_to_json(const sandbox::Verdict& verdict);
/// `corrupt` names the first field that is missing or wrong.
Result<sandbox::Verdict> verdict_from_json(const nlohmann::json& document);

/// Removes what would tell an agent about the hidden cases. Their ids become "hidden_1", ...; their
/// numbers, sizes, seeds and times are gone, and so is every text that the submission could have
/// written while it held their inputs. A hint is kept only when its kind says that the device wrote
/// its text, and when it is not about a hidden case. `hidden_ids` are the operator's. A verdict
/// without hidden cases is returned as it is.
sandbox::Verdict redact_hidden(sandbox::Verdict verdict,
                               const std::vector<std::string>& hidden_ids);

}  // namespace assay::tools
