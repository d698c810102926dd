// The space of versions that the simulated model moves in.
//
//   const Landscape landscape(7, "softmax_last_dim");
//   SeededRng draws(7, "softmax_last_dim\nsample 1");
//   const Ideas first = first_ideas(draws);
//   const Ideas next = next_ideas(first, {first}, draws);  // differs in one idea
//   const bool is_better = landscape.perf(next) > landscape.perf(first);
//
// Comments in the code mark a version:
//   # line of attack 417
//   # ideas: 13
//   # fake: perf=0.8731
//
// Speeds: a version has a subset of kIdeas ideas. Each idea makes it faster or slower, and
// neighbouring ideas strengthen or weaken each other. Seed and operator determine the factors. The
// result is a rugged landscape (an NK model with K = 1): an agent climbs by changing one idea at a
// time, and can get stuck. The landscape models no operator and no GPU. It serves to run the parts
// of an agent that need times where nothing can be timed: the device `fake` takes the speed from
// the comment.
//
// Dead ends: a real model that repairs its code keeps its approach (line of attack), and some
// approaches cannot be repaired. The simulated model keeps the number in the failing code that the
// prompt shows, and draws a new number if the prompt shows none. Seed, operator, sample and number
// determine whether an approach can succeed.
//
// Pure functions and an immutable class, thread-safe.
#pragma once

#include <array>
#include <charconv>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "reference_agents/core/seeded_rng.h"

namespace assay::agents {

inline constexpr std::size_t kIdeas = 8;

/// A set of ideas; bit i stands for idea i.
using Ideas = std::uint32_t;

class Landscape {
 public:
  Landscape(std::uint64_t seed, const std::string& operator_name);
  /// Returns oracle latency / latency of a version with these ideas.
  double perf(Ideas ideas) const;

 private:
  std::array<double, kIdeas> alone_{}, with_next_{};
};

std::string ideas_comment(Ideas ideas);
/// Returns the ideas of each version that the text shows, in order.
std::vector<Ideas> ideas_in(std::string_view text);
/// Writes a plan for a version with these ideas. ideas_in() ignores plans.
std::string plan_sentence(Ideas ideas);
/// Returns the ideas of the last plan in the text.
std::optional<Ideas> planned_ideas(std::string_view text);
/// Draws the ideas of a first version.
Ideas first_ideas(SeededRng& draws);
/// Adds an idea to `base` or removes one. Prefers a result that is not in `tried`.
Ideas next_ideas(Ideas base, const std::vector<Ideas>& tried, SeededRng& draws);

inline constexpr std::string_view kAttackMark = "# line of attack ";
/// Large enough that two attempts hardly ever draw the same number.
inline constexpr std::size_t kAttacks = 1'000;

inline std::string attack_comment(std::size_t attack) {
  return std::string(kAttackMark) + std::to_string(attack) + "\n";
}

/// Returns the number of the code's approach, or nothing for code without the comment.
inline std::optional<std::size_t> attack_of(std::string_view code) {
  const std::size_t at = code.find(kAttackMark);
  if (at == std::string_view::npos) return std::nullopt;
  std::size_t attack = 0;
  const char* begin = code.data() + at + kAttackMark.size();
  const auto [end, error] = std::from_chars(begin, code.data() + code.size(), attack);
  if (error != std::errc{}) return std::nullopt;
  return attack;
}

/// Returns true if no repair can make this approach right. `share` is the share of such approaches.
inline bool is_dead_end(std::uint64_t seed, const std::string& identity, std::size_t attack,
                        double share) {
  return SeededRng(seed, identity + "\nline of attack " + std::to_string(attack)).uniform() < share;
}

}  // namespace assay::agents
