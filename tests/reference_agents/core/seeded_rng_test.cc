#include "reference_agents/core/seeded_rng.h"

#include "tests/catch.h"

using namespace assay::agents;

TEST_CASE(
    "equal seed and identity give equal numbers, others do not, and numbers fill their range") {
  SeededRng first(7, "f\nsample 1");
  SeededRng again(7, "f\nsample 1");
  SeededRng other(7, "f\nsample 2");
  CHECK(first.next() == again.next());
  CHECK(first.next() != other.next());
  double least = 1, most = 0;
  bool seen[3] = {};
  for (int i = 0; i < 1'000; ++i) {
    const double uniform = first.uniform();
    least = uniform < least ? uniform : least;
    most = uniform > most ? uniform : most;
    seen[first.below(3)] = true;
  }
  CHECK(least >= 0);
  CHECK(least < 0.05);
  CHECK(most < 1);
  CHECK(most > 0.95);
  CHECK((seen[0] && seen[1] && seen[2]));
}

TEST_CASE("the numbers of a seed never change, so that old transcripts can be replayed") {
  CHECK(SeededRng(7, "f").next() == 708'564'431'091'695'743ULL);
}
