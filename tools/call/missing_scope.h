// Says which scope a caller lacks for a call of a tool, before the call. So a transport can tell an
// OAuth client to ask its identity provider for the scope. The services check the scope too
// (check_scope() in tools/model/principal.h), so a call that this function overlooks is refused
// later.
//
//   const std::string scope = missing_scope(services, arguments, caller);
//   if (scope == kScopeScore) show("the arguments name a scored run, or the track of one");
//
// Thread-safe.
#pragma once

#include <string>

#include "base/json.h"
#include "server/mcp/core/request_context.h"
#include "tools/model/services.h"

namespace assay::tools {

/// Returns the scope that the caller lacks, or "". The arguments are those of a tool that changes
/// runs or jobs, and may violate the tool's schema.
std::string missing_scope(const Services& services, const nlohmann::json& arguments,
                          const mcp::Caller& caller);

}  // namespace assay::tools
