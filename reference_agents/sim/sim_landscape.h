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
//
// Lines of attack of the simulated model. A real model that mends its code keeps to its approach,
// and some approaches cannot be mended: that is what a debugging trap is against. The simulated one
// writes the number of its line of attack into the code as a comment, keeps it when it is shown
// code that fails, and draws a new one when it is shown none. Whether a line can come to a correct
// version is settled by seed, operator, sample and number.
//
//   # line of attack 417
//
// Pure functions, safe from any thread.
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

inline constexpr std::string_view kAttackMark = "# line of attack ";
inline constexpr std::size_t kAttacks =
    1'000;  // so many that two attempts hardly ever draw the same

inline std::string attack_comment(std::size_t attack) {
  return std::string(kAttackMark) + std::to_string(attack) + "\n";
}

/// The line of attack that the code belongs to; nothing for code without the comment.
inline std::optional<std::size_t> attack_of(std::string_view code) {
  const std::size_t at = code.find(kAttackMark);
  if (at == std::string_view::npos) return std::nullopt;
  std::size_t attack = 0;
  const char* begin = code.data() + at + kAttackMark.size();
  const auto [end, error] = std::from_chars(begin, code.data() + code.size(), attack);
  if (error != std::errc{}) return std::nullopt;
  return attack;
}

/// `share`: of the lines of attack, how many end nowhere.
inline bool is_dead_end(std::uint64_t seed, const std::string& identity, std::size_t attack,
                        double share) {
  return SeededRng(seed, identity + "\nline of attack " + std::to_string(attack)).uniform() < share;
}

}  // namespace assay::agents
