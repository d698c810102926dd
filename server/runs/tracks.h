// What a run's budgets allow, and which operators a suite names. tools/model/tracks.h has the
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

/// How many calls of this kind the budgets allow per operator.
std::int64_t limit_of(const tools::Budgets& budgets, sandbox::JobKind kind);

/// "all", a split, or a comma-separated list; in catalog order, each once. An error names the
/// unknown operators and the splits.
Result<std::vector<std::string>> resolve_suite(const std::string& suite,
                                               const operators::Catalog& catalog);

}  // namespace assay::server
