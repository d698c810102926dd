#include "reference_agents/sim/sim_landscape.h"

#include <set>
#include <vector>

#include "tests/catch.h"

using namespace assay::agents;

TEST_CASE("seed and operator determine a landscape, which has local maxima") {
  int with_traps = 0;
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    const Landscape landscape(seed, "relu");
    CHECK(landscape.perf(37) == Landscape(seed, "relu").perf(37));
    CHECK(landscape.perf(255) != Landscape(seed, "gelu_tanh").perf(255));
    CHECK(landscape.perf(0) ==
          Landscape(seed + 1, "relu").perf(0));  // without ideas, all landscapes are the same
    int peaks = 0;
    for (Ideas ideas = 0; ideas < (1U << kIdeas); ++ideas) {
      bool is_peak = true;
      for (std::size_t i = 0; i < kIdeas; ++i)
        is_peak = is_peak && landscape.perf(ideas ^ Ideas{1} << i) < landscape.perf(ideas);
      peaks += is_peak ? 1 : 0;
    }
    REQUIRE(peaks >= 1);
    with_traps += peaks > 1 ? 1 : 0;
  }
  CHECK(with_traps >= 1);
}

TEST_CASE("ideas are read from versions, and a plan is not a version") {
  CHECK(ideas_in("x\n" + ideas_comment(13) + "# ideas: none\n" + ideas_comment(0)) ==
        std::vector<Ideas>{13, 0});
  CHECK(ideas_in(plan_sentence(5)).empty());
  CHECK(planned_ideas(plan_sentence(5) + plan_sentence(6)) == 6U);
  CHECK_FALSE(planned_ideas(ideas_comment(5)).has_value());
}

TEST_CASE("the next version differs by one idea and is new as long as possible") {
  SeededRng draws(0, "test");
  std::vector<Ideas> tried;
  for (std::size_t i = 0; i < kIdeas; ++i) {
    const Ideas next = next_ideas(6, tried, draws);
    CHECK((next ^ 6U) != 0);
    CHECK(((next ^ 6U) & ((next ^ 6U) - 1)) == 0);
    tried.push_back(next);
  }
  CHECK(std::set<Ideas>(tried.begin(), tried.end()).size() == kIdeas);
  CHECK(next_ideas(6, tried, draws) != 6);
}
