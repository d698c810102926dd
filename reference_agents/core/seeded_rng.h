// SeededRng gives pseudo-random numbers that are the same on every machine. The distributions of
// the C++ standard library give other numbers in each implementation. The numbers depend only on a
// seed and an identity, such as operator and sample. The first state of SplitMix64 is the sum of
// the seed and the FNV-1a hash of the identity. So an agent that continues an interrupted attempt
// draws the same numbers again, and its transcript can be replayed.
//
//   SeededRng draws(7, "softmax_last_dim\nsample 1");
//   if (draws.uniform() < 0.5) take(entries[draws.below(entries.size())]);
//
// Not thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace assay::agents {

class SeededRng {
 public:
  SeededRng(std::uint64_t seed, std::string_view identity) : state_(seed) {
    std::uint64_t hash = 14'695'981'039'346'656'037ULL;
    for (const char byte : identity)
      hash = (hash ^ static_cast<unsigned char>(byte)) * 1'099'511'628'211ULL;
    state_ += hash;
    (void)next();
  }
  std::uint64_t next() {
    std::uint64_t mixed = state_ += 0x9e3779b97f4a7c15ULL;
    mixed = (mixed ^ (mixed >> 30)) * 0xbf58476d1ce4e5b9ULL;
    mixed = (mixed ^ (mixed >> 27)) * 0x94d049bb133111ebULL;
    return mixed ^ (mixed >> 31);
  }
  /// Returns a number in [0, 1).
  double uniform() { return static_cast<double>(next() >> 11) * 0x1.0p-53; }
  /// Returns an integer in [0, count). `count` must be at least 1.
  std::size_t below(std::size_t count) { return static_cast<std::size_t>(next() % count); }

 private:
  std::uint64_t state_;
};

}  // namespace assay::agents
