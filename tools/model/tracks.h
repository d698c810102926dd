// The tracks: the rules of a run, as data. A track is a value of `Track` and a line of kTracks;
// everything else follows from that line: what start_run offers, what a call is charged against,
// what a bench accepts. Constants and pure functions, thread-safe.
//
//   rules_of(Track::one_shot).budgets.tests;  // 1
//   track_names();                            // "practice, one_shot, iterative, scaled"
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace assay::tools {

enum class Track { practice, one_shot, iterative, scaled };

/// Numbers of calls for each operator of a run. 0 forbids the tool, -1 is unlimited.
struct Budgets {
  std::int64_t compiles = -1;
  std::int64_t tests = -1;
  std::int64_t profiles = -1;
  std::int64_t submissions = -1;
  std::int64_t run_wall_s = 86'400;  // time of the whole run; afterwards the run can only be read
};

struct TrackRules {
  Track track;
  std::string_view name;
  std::string_view rule;  // a few words for an agent
  Budgets budgets;
  bool locks_source = false;  // an operator accepts only the first source that it got
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
    // Inference-time scaling as GEAK publishes it: 10 instances with 10 iterations each.
    {Track::scaled,
     "scaled",
     "as iterative, with room for 10 times 10 versions",
     {.compiles = 100, .tests = 100, .profiles = 100, .submissions = 1, .run_wall_s = 7 * kDayS}},
}};

std::string_view to_string(Track track);
std::optional<Track> track_from(std::string_view text);
const TrackRules& rules_of(Track track);
/// Returns the names, separated by commas.
std::string track_names();
/// Returns for each track "iterative (20/10/10, 24 h)": compiles, tests and profiles.
std::string tracks_text();

}  // namespace assay::tools
