// principal_of() returns the principal (tools/model/principal.h) that sent a request. Pure
// function, thread-safe.
//
//   const auto card = services.runs.scorecard(principal_of(context), run);
#pragma once

#include "server/mcp/core/request_context.h"
#include "tools/model/principal.h"

namespace assay::tools {

inline Principal principal_of(const mcp::RequestContext& context) {
  return {.name = mcp::name_of(context.caller), .may_score = context.allows(kScopeScore)};
}

}  // namespace assay::tools
