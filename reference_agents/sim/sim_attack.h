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

#include <charconv>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "reference_agents/core/seeded_rng.h"

namespace assay::agents {

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
