#include "tools/model/principal.h"

#include <string>

namespace assay::tools {

Status check_scope(const Principal& principal, Track track) {
  if (track == Track::practice || principal.may_score) return {};
  return fail(ErrorCode::permission_denied,
              "your token lacks the scope '" + std::string(kScopeScore) + "', which the " +
                  std::string(to_string(track)) +
                  " track needs; start a run of the practice track, or ask the administrator of "
                  "this server for another token");
}

}  // namespace assay::tools
