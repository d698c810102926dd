// The tracks: the rules of a run, as data. kTracks is THE list; a track is a name in `Track` and a
// line here, and everything else (what start_run offers and says, what a call is charged against,
// what a bench takes) follows. Constants and pure functions, thread-safe.
//
//   rules_of(Track::one_shot).budgets.tests  ->  1
//   track_names()                            ->  "practice, one_shot, iterative, scaled"
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "tools/model/services.h"

namespace assay::tools {

struct TrackRules {
  Track track;
  std::string_view name;
  std::string_view rule;  // in a few words, for an agent
  Budgets budgets;  // per operator; its time is that of the whole run, after which the handle is
                    // good for reading only
  bool locks_source = false;  // the first source seen for an operator is the only one
};

inline constexpr std::int64_t kDayS = 86'400;

inline constexpr std::array<TrackRules, 4> kTracks = {{
    {Track::practice, "practice", "unscored: try anything", {}},
    {Track::one_shot,
     "one_shot",
     "the first source of an operator is the only one",
     {.compiles = 1, .tests = 1, .profiles = 1, .submissions = 1, .run_wall_s = kDayS},
     true},
    {Track::iterative,
     "iterative",
     "work with the budgets, then submit once per operator",
     {.compiles = 20, .tests = 10, .profiles = 10, .submissions = 1, .run_wall_s = kDayS}},
    // Inference-time scaling as GEAK publishes it: 10 iterations in each of 10 instances.
    {Track::scaled,
     "scaled",
     "as iterative, with room for 10 times 10 versions",
     {.compiles = 100, .tests = 100, .profiles = 100, .submissions = 1, .run_wall_s = 7 * kDayS}},
}};

const TrackRules& rules_of(Track track);
/// Comma-separated.
std::string track_names();
/// "iterative (20/10/10, 24 h)", for each of them: compiles, tests and profiles.
std::string tracks_text();

}  // namespace assay::tools
