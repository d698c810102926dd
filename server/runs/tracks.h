// Looks up a run's budgets, and resolves the operators of a suite. tools/model/tracks.h has the
// tracks. Pure functions, thread-safe.
//
//   limit_of(run.budgets, JobKind::test)
//   resolve_suite("softmax_last_dim,vector_add", catalog)
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "operators/catalog.h"
#include "tools/model/services.h"

namespace assay::server {

/// The calls of this kind that the budgets allow per operator; -1 is unlimited.
std::int64_t limit_of(const tools::Budgets& budgets, sandbox::JobKind kind);

/// `suite` is "all", a split, or a comma-separated list. Returns the operators in catalog order,
/// each once. An error names the unknown operators and the splits.
Result<std::vector<std::string>> resolve_suite(const std::string& suite,
                                               const operators::Catalog& catalog);

}  // namespace assay::server
