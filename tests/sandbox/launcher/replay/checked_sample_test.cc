#include "sandbox/launcher/replay/checked_sample.h"

#include <map>
#include <utility>

#include "tests/catch.h"

using namespace assay::sandbox;

namespace {

using DrawnSample = std::pair<SampleKind, std::int64_t>;

constexpr int kDrawnBlocks = 20'000;

/// What happened in kDrawnBlocks blocks with `cold` and then `fresh` samples.
struct Draws {
  std::map<DrawnSample, int> checked;  // how often the outputs of each sample were checked
  int returned = 0;                    // how often outputs were returned
  int blocks_without = 0;

  double share(SampleKind kind, std::int64_t index) const {
    const auto found = checked.find({kind, index});
    return found == checked.end() ? 0 : static_cast<double>(found->second) / kDrawnBlocks;
  }
};

Draws draws_of(const CheckedSample::Samples& samples, std::int64_t cold, std::int64_t fresh) {
  Draws seen;
  for (int block = 0; block < kDrawnBlocks; ++block) {
    CheckedSample checked(samples, static_cast<std::uint64_t>(block));
    const DrawnSample* last = nullptr;
    DrawnSample drawn;
    const auto take = [&](SampleKind kind, std::int64_t number) {
      for (std::int64_t i = 0; i < number; ++i) {
        if (!checked.is_drawn(kind, i, i + 1 == number)) continue;
        drawn = {kind, i};
        last = &drawn;
        ++seen.returned;
      }
    };
    take(SampleKind::cold, cold);
    take(SampleKind::fresh, fresh);
    if (last != nullptr)
      ++seen.checked[*last];
    else
      ++seen.blocks_without;
  }
  return seen;
}

// Five standard deviations of a share of 1/2 in kDrawnBlocks blocks. The seeds are fixed.
constexpr double kDrawNoise = 0.018;

}  // namespace

TEST_CASE(
    "half of the blocks check a fresh sample, a quarter the first one, and the rest a later") {
  const Draws seen = draws_of({.least_cold = 10, .fresh = 3}, 10, 3);
  CHECK(seen.blocks_without == 0);
  CHECK(seen.returned == kDrawnBlocks);  // one for each block
  for (std::int64_t i = 0; i < 3; ++i)
    CHECK(seen.share(SampleKind::fresh, i) == Approx(0.5 / 3).margin(kDrawNoise));
  CHECK(seen.share(SampleKind::cold, 0) == Approx(0.25).margin(kDrawNoise));
  for (std::int64_t i = 1; i < 10; ++i)
    CHECK(seen.share(SampleKind::cold, i) == Approx(0.25 / 9).margin(kDrawNoise / 3));
}

TEST_CASE("later samples are equally likely, however many a series takes") {
  const Draws seen = draws_of({.least_cold = 10, .fresh = 0}, 40, 0);
  CHECK(seen.blocks_without == 0);
  CHECK(seen.share(SampleKind::cold, 0) == Approx(0.5).margin(kDrawNoise));
  for (std::int64_t i = 1; i < 40; ++i)
    CHECK(seen.share(SampleKind::cold, i) == Approx(0.5 / 39).margin(kDrawNoise / 3));
  CHECK(seen.returned < 2 * kDrawnBlocks);
}

TEST_CASE("a block that its time limit ends early has a checked sample too") {
  const Draws seen = draws_of({.least_cold = 10, .fresh = 3}, 4, 1);
  CHECK(seen.blocks_without == 0);
  CHECK(seen.share(SampleKind::fresh, 0) == Approx(0.5).margin(kDrawNoise));
  CHECK(seen.share(SampleKind::cold, 3) > seen.share(SampleKind::cold, 2));
  const Draws one = draws_of({.least_cold = 1, .fresh = 0}, 1, 0);
  CHECK(one.share(SampleKind::cold, 0) == 1);
}
