// Decides what of a verdict an agent may see when the job had hidden cases. A pure function,
// thread-safe.
//
//   const sandbox::Verdict shown = redact_hidden(verdict, {"secret_tail", "secret_half"});
#pragma once

#include <string>
#include <vector>

#include "sandbox/job/job.h"

namespace assay::tools {

/// Removes everything that would tell an agent about the hidden cases. Their ids become "hidden_1",
/// "hidden_2", and so on. Their numbers, sizes, seeds and times are removed, and so is every text
/// that the submission could have written while it had their inputs. A hint stays only if its kind
/// says that the device wrote its text, and if it is not about a hidden case. `hidden_ids` are the
/// hidden cases of the operator. A verdict without hidden cases is returned unchanged.
sandbox::Verdict redact_hidden(sandbox::Verdict verdict,
                               const std::vector<std::string>& hidden_ids);

}  // namespace assay::tools
