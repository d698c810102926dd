// Principal is the client on whose behalf a tool uses a service (services.h). A run, a job and an
// artifact belong to the principal that started the run or sent the job. For every other principal,
// their handles do not exist: a service answers as it answers for an unknown handle. Principal is a
// plain value, and the function is pure.
//
//   const Principal alice{.name = "alice", .may_score = false};
//   const Status allowed = check_scope(alice, Track::one_shot);  // permission_denied
#pragma once

#include <string>

#include "base/result.h"
#include "tools/model/tracks.h"

namespace assay::tools {

/// The scopes that a client's token can have.
inline constexpr const char* kScopePractice = "practice";  // every tool; only the practice track
inline constexpr const char* kScopeScore = "score";        // every tool and every track

struct Principal {
  std::string name = {};  // the name of the client's token; empty: the server has no tokens
  bool may_score = true;  // true if the token has the scope `score`, or if there are no tokens
};

/// Returns an error if the principal may not use runs of this track. Reading a run's results needs
/// no scope. Everything that changes the results of a run needs it: starting the run, calling a
/// tool that is charged to the run, cancelling such a call, and reporting usage.
Status check_scope(const Principal& principal, Track track);

}  // namespace assay::tools
