// The speeds of the simulated model's versions, for the device `fake`, which takes a version's
// speed from a comment in it. A version realises some of kIdeas ideas. Each idea makes it faster or
// slower, and neighbouring ideas help or hinder one another, by factors that seed and operator
// settle: a rugged landscape (an NK model with K = 1) in which one climbs by changing one idea at a
// time, and can get stuck. It stands for no operator and no GPU: it lets parts of an agent that
// live on times be run where nothing can be timed.
//
//   # ideas: 13
//   # fake: perf=0.8731
//
// Unchanging once made, so thread-safe; pure functions.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "reference_agents/core/seeded_rng.h"

namespace assay::agents {

inline constexpr std::size_t kIdeas = 8;

/// Bit i: idea i is realised.
using Ideas = std::uint32_t;

class Landscape {
 public:
  Landscape(std::uint64_t seed, const std::string& operator_name);
  /// Time of the reference kernel over that of such a version.
  double perf(Ideas ideas) const;

 private:
  std::array<double, kIdeas> alone_{}, with_next_{};
};

std::string ideas_comment(Ideas ideas);
/// Of every version that the text shows, in order.
std::vector<Ideas> ideas_in(std::string_view text);
/// A planner's sentence, and what the last one in the text says. A plan is not a version: ideas_in
/// does not see it.
std::string plan_sentence(Ideas ideas);
std::optional<Ideas> planned_ideas(std::string_view text);
/// A version written from nothing.
Ideas first_ideas(SeededRng& draws);
/// One idea more or less than `base`, if possible none that was tried.
Ideas next_ideas(Ideas base, const std::vector<Ideas>& tried, SeededRng& draws);

}  // namespace assay::agents
