#include "server/mcp/protocol/protocol.h"

#include <algorithm>

namespace assay::mcp {

bool is_legacy_version(std::string_view version) {
  return std::find(kLegacyVersions.begin(), kLegacyVersions.end(), version) !=
         kLegacyVersions.end();
}

}  // namespace assay::mcp
