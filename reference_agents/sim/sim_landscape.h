// Defines the space of versions in which the simulated model moves.
//
//   const Landscape landscape(7, "softmax_last_dim");
//   SeededRng draws(7, "softmax_last_dim\nsample 1");
//   const Ideas first = first_ideas(draws);
//   const Ideas next = next_ideas(first, {first}, draws);  // differs in one idea
//   const bool is_better = landscape.perf(next) > landscape.perf(first);
//
// Three comments in the code describe a version:
//   # line of attack 417
//   # ideas: 13
//   # fake: perf=0.8731
//
// Speeds: a version has a subset of kIdeas ideas. Each idea makes the version faster or slower by a
// factor, and neighbouring ideas strengthen or weaken each other. The seed and the operator
// determine the factors. The result is a rugged landscape (an NK model with K = 1): an agent climbs
// by changing one idea at a time, and it can get stuck. The landscape models no operator and no
// GPU. With it, the parts of an agent that need times can run on a machine without a GPU: the
// device `fake` takes the speed from the comment.
//
// Dead ends: when a real model repairs its code, it keeps its approach (line of attack), and some
// approaches cannot be repaired. An approach is a number in a comment. If the prompt shows failing
// code with a number, the simulated model keeps this number; otherwise it draws a new number. The
// seed, the operator, the sample and the number determine whether an approach can succeed.
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

/// A set of ideas. Bit i is set if the set contains idea i.
using Ideas = std::uint32_t;

class Landscape {
 public:
  Landscape(std::uint64_t seed, const std::string& operator_name);
  /// Returns the Perf of a version with these ideas: the oracle's latency divided by the version's
  /// latency.
  double perf(Ideas ideas) const;

 private:
  std::array<double, kIdeas> alone_{}, with_next_{};
};

std::string ideas_comment(Ideas ideas);
/// Returns the ideas of each version in the text, in the order of the versions.
std::vector<Ideas> ideas_in(std::string_view text);
/// Writes a plan for a version with these ideas. ideas_in() ignores plans.
std::string plan_sentence(Ideas ideas);
/// Returns the ideas of the last plan in the text.
std::optional<Ideas> planned_ideas(std::string_view text);
/// Draws the ideas of a first version.
Ideas first_ideas(SeededRng& draws);
/// Returns `base` with one idea added or removed. Prefers a result that is not in `tried`.
Ideas next_ideas(Ideas base, const std::vector<Ideas>& tried, SeededRng& draws);

inline constexpr std::string_view kAttackMark = "# line of attack ";
/// The number of different approaches. It is so large that two attempts hardly ever draw the same
/// approach.
inline constexpr std::size_t kAttacks = 1'000;

inline std::string attack_comment(std::size_t attack) {
  return std::string(kAttackMark) + std::to_string(attack) + "\n";
}

/// Returns the number of the code's approach, which is in a comment. Returns nothing if there is no
/// such comment.
inline std::optional<std::size_t> attack_of(std::string_view code) {
  const std::size_t at = code.find(kAttackMark);
  if (at == std::string_view::npos) return std::nullopt;
  std::size_t attack = 0;
  const char* begin = code.data() + at + kAttackMark.size();
  const auto [end, error] = std::from_chars(begin, code.data() + code.size(), attack);
  if (error != std::errc{}) return std::nullopt;
  return attack;
}

/// Returns true if this approach is a dead end: no repair can make it right. `share` is the share
/// of dead ends among all approaches.
inline bool is_dead_end(std::uint64_t seed, const std::string& identity, std::size_t attack,
                        double share) {
  return SeededRng(seed, identity + "\nline of attack " + std::to_string(attack)).uniform() < share;
}

}  // namespace assay::agents
