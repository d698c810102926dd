// The rules of the tracks, and which operators a suite names. Pure functions, thread-safe.
//
//   budgets_of(Track::one_shot)                          one of each per operator, all of the same source
//   resolve_suite("softmax_last_dim,vector_add", catalog)
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "operators/catalog.h"
#include "tools/services.h"

namespace assay::server {

/// However long a run may work, its handle is good for no longer than this.
inline constexpr std::int64_t kRunLifetimeS = 86'400;

tools::Budgets budgets_of(tools::Track track);

/// True where the first source seen for an operator is the only one.
bool locks_source(tools::Track track);

/// How many calls of this kind the budgets allow per operator.
std::int64_t limit_of(const tools::Budgets& budgets, sandbox::JobKind kind);

/// "all", a split, or a comma-separated list; in catalog order, each once. An error names the unknown operators and the splits.
Result<std::vector<std::string>> resolve_suite(const std::string& suite, const operators::Catalog& catalog);

}  // namespace assay::server
