#include "sandbox/launcher/replay/checked_sample.h"

#include <array>
#include <cmath>
#include <map>
#include <utility>
#include <vector>

#include "tests/catch.h"

using namespace assay::sandbox;

namespace {

using Pause = CheckedSample::Pause;
using DrawnSample = std::pair<SampleKind, std::int64_t>;

constexpr int kDrawnBlocks = 100'000;
// Five standard deviations of a share of 1/2 in kDrawnBlocks blocks. The seeds are fixed.
constexpr double kDrawNoise = 0.008;

/// What happened in kDrawnBlocks blocks with `cold` and then `fresh` samples.
struct Draws {
  std::map<DrawnSample, int> checked;  // how often the outputs of each sample were the last ones
  // How often each sample was checked, and how often it came, after a pause of this pattern: bit i
  // is set if a pause came after cold sample i.
  std::map<std::pair<std::uint64_t, DrawnSample>, std::pair<int, int>> after;
  // How often the first sample, a later one or a fresh one was checked, after such a pattern of all
  // cold samples.
  std::map<std::uint64_t, std::array<int, 3>> kinds;
  int blocks_without = 0;

  double share(SampleKind kind, std::int64_t index) const {
    const auto found = checked.find({kind, index});
    return found == checked.end() ? 0 : static_cast<double>(found->second) / kDrawnBlocks;
  }
};

Draws draws_of(std::int64_t cold, std::int64_t fresh) {
  Draws draws;
  for (int block = 0; block < kDrawnBlocks; ++block) {
    CheckedSample checked(fresh > 0, static_cast<std::uint64_t>(block));
    std::vector<DrawnSample> found;
    std::vector<std::pair<std::uint64_t, DrawnSample>> seen;
    std::uint64_t pattern = 0;
    const auto take = [&](SampleKind kind, std::int64_t number) {
      for (std::int64_t i = 0; i < number; ++i) {
        seen.push_back({pattern, {kind, i}});
        const Pause pause = checked.after(kind, i, i + 1 == number);
        if (pause == Pause::none) continue;
        if (kind == SampleKind::cold) pattern |= std::uint64_t{1} << i;
        if (pause == Pause::checked) found.push_back({kind, i});
      }
    };
    take(SampleKind::cold, cold);
    take(SampleKind::fresh, fresh);
    if (found.empty()) {
      ++draws.blocks_without;
      continue;
    }
    ++draws.checked[found.back()];
    const auto [kind, index] = found.back();
    ++draws.kinds[pattern][kind == SampleKind::fresh ? 2 : index > 0 ? 1 : 0];
    for (const auto& one : seen) {
      auto& [times, all] = draws.after[one];
      times += one.second == found.back() ? 1 : 0;
      ++all;
    }
  }
  return draws;
}

}  // namespace

TEST_CASE(
    "half of the blocks check a fresh sample, a quarter the first one, and the rest a later") {
  const Draws draws = draws_of(10, 3);
  CHECK(draws.blocks_without == 0);
  double fresh = 0, later = 0;
  for (std::int64_t i = 0; i < 3; ++i) {
    fresh += draws.share(SampleKind::fresh, i);
    CHECK(draws.share(SampleKind::fresh, i) > 0.1);
  }
  for (std::int64_t i = 1; i < 10; ++i) {
    later += draws.share(SampleKind::cold, i);
    CHECK(draws.share(SampleKind::cold, i) > 0.25 / 9 * 0.8);
    if (i < 9) CHECK(draws.share(SampleKind::cold, i) < 0.25 / 9 * 1.1);  // the last has more
  }
  CHECK(fresh == Approx(0.5).margin(kDrawNoise));
  CHECK(draws.share(SampleKind::cold, 0) == Approx(0.25).margin(kDrawNoise));
  CHECK(later == Approx(0.25).margin(kDrawNoise));
}

TEST_CASE("without fresh samples, half of the blocks check the first sample") {
  const Draws draws = draws_of(40, 0);
  CHECK(draws.blocks_without == 0);
  CHECK(draws.share(SampleKind::cold, 0) == Approx(0.5).margin(kDrawNoise));
  for (std::int64_t i = 1; i < 40; ++i) {
    CHECK(draws.share(SampleKind::cold, i) > 0.5 / 39 * 0.6);
    CHECK(draws.share(SampleKind::cold, i) < 0.5 / 39 * 1.6);
  }
}

TEST_CASE("whatever pauses a kernel has noticed, each sample that follows may be checked") {
  const Draws draws = draws_of(10, 3);
  // Without any knowledge, a later cold sample is checked with probability 0.025 or more.
  constexpr int kOften = 2'000;
  int patterns = 0;
  for (const auto& [when, counts] : draws.after) {
    if (counts.second < kOften) continue;
    ++patterns;
    INFO("pauses " << when.first << ", sample " << when.second.second);
    CHECK(static_cast<double>(counts.first) > 0.004 * counts.second);
  }
  CHECK(patterns > 30);
}

TEST_CASE("the pauses of the cold samples do not depend on the sample that is checked") {
  const Draws draws = draws_of(10, 3);
  constexpr int kOften = 2'000;
  int patterns = 0;
  for (const auto& [pattern, kinds] : draws.kinds) {
    const int all = kinds[0] + kinds[1] + kinds[2];
    if (all < kOften) continue;
    ++patterns;
    INFO("pauses " << pattern);
    const double noise = 5 * 0.5 / std::sqrt(all);
    CHECK(kinds[0] == Approx(0.25 * all).margin(noise * all));  // the first sample is checked
    CHECK(kinds[1] == Approx(0.25 * all).margin(noise * all));  // a later one
    CHECK(kinds[2] == Approx(0.5 * all).margin(noise * all));   // a fresh one
  }
  CHECK(patterns >= 9);
}

TEST_CASE("a block that its time limit ends early has a checked sample too") {
  for (const auto& [cold, fresh] : {std::pair{1, 1}, {1, 0}, {2, 1}, {4, 2}})
    CHECK(draws_of(cold, fresh).blocks_without == 0);
  CHECK(draws_of(1, 0).share(SampleKind::cold, 0) == 1);
}
