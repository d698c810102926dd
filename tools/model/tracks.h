// Defines the tracks, which are the rules of a run, as data. A track is a value of `Track` and a
// line of kTracks. Everything else follows from that line: what start_run offers, which budget a
// call is charged to, and what a bench accepts. Constants and pure functions, thread-safe.
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

/// The maximum numbers of calls for each operator of a run. 0 forbids the tool; -1 means unlimited.
struct Budgets {
  std::int64_t compiles = -1;
  std::int64_t tests = -1;
  std::int64_t profiles = -1;
  std::int64_t submissions = -1;
  std::int64_t run_wall_s = 86'400;  // seconds from the start of the run until it is read-only
};

struct TrackRules {
  Track track;
  std::string_view name;
  std::string_view rule;  // the rule as an agent reads it, in a few words
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
    // These budgets follow the inference-time scaling that GEAK published: 10 instances with 10
    // iterations each.
    {Track::scaled,
     "scaled",
     "as iterative, with room for 10 times 10 versions",
     {.compiles = 100, .tests = 100, .profiles = 100, .submissions = 1, .run_wall_s = 7 * kDayS}},
}};

std::string_view to_string(Track track);
std::optional<Track> track_from(std::string_view text);
const TrackRules& rules_of(Track track);
/// Returns the names of all tracks, separated by commas.
std::string track_names();
/// Returns a text such as "iterative (20/10/10, 24 h)" for each track. The numbers are the
/// compiles, tests and profiles of each operator.
std::string tracks_text();

}  // namespace assay::tools
