#include "sandbox/timing/oracle_series.h"

#include <vector>

#include "tests/catch.h"

using namespace assay::sandbox;

namespace {

Timing block(double ns, double mhz = 1'980) {
  Timing timing;
  timing.samples_ns = std::vector<double>(24, ns);
  timing.median_ns = ns;
  timing.clock_mhz = mhz;
  return timing;
}

Timing earlier(double ns, double mhz = 1'980) {
  Timing timing = block(ns, mhz);
  timing.samples_ns.resize(72, ns);
  timing.age_ms = 60'000;
  return timing;
}

}  // namespace

TEST_CASE("an earlier time holds if a new block differs by at most one percent at the same clock") {
  CHECK(still_holds(earlier(10'000), block(10'090)));
  CHECK(still_holds(earlier(10'000), block(9'910)));
  CHECK_FALSE(still_holds(earlier(10'000), block(10'110)));
  CHECK_FALSE(still_holds(earlier(10'000), block(9'890)));
  CHECK(still_holds(earlier(1'000), block(1'016)));  // half of a tick of the timer
  CHECK_FALSE(still_holds(earlier(1'000), block(1'018)));
  CHECK_FALSE(still_holds(earlier(10'000, 1'980), block(10'000, 1'900)));
  CHECK_FALSE(still_holds(earlier(10'000, 1'900), block(10'000, 1'980)));
  CHECK_FALSE(still_holds(earlier(0), block(0)));
}

TEST_CASE("one block completes the series of an oracle whose earlier time it confirms") {
  OracleSeries oracle(earlier(10'000));
  CHECK(oracle.wants_block());
  CHECK_FALSE(oracle.timing());
  oracle.look();  // without a block
  CHECK(oracle.wants_block());
  oracle.samples().add(block(10'050), {1});
  oracle.look();
  CHECK_FALSE(oracle.wants_block());
  CHECK(oracle.steady());
  CHECK_FALSE(oracle.is_new());  // so it is not kept again
  REQUIRE(oracle.timing());
  CHECK(oracle.timing()->samples_ns.size() == 96);
  CHECK(oracle.timing()->median_ns == 10'000);
  CHECK(oracle.timing()->age_ms == 60'000);
}

TEST_CASE("a confirmed time that is not known well enough gets more blocks") {
  OracleSeries oracle(earlier(10'000));
  Timing noisy = block(10'000);
  for (std::size_t i = 0; i < noisy.samples_ns.size(); ++i)
    noisy.samples_ns[i] = i % 2 == 0 ? 8'000 : 12'000;
  noisy.samples_ns.resize(200, 8'000);
  noisy.samples_ns.resize(400, 12'000);
  oracle.samples().add(noisy, {});
  oracle.look();
  CHECK_FALSE(oracle.steady());
  CHECK(oracle.wants_block());
}

TEST_CASE("an earlier time that the first block contradicts is forgotten") {
  OracleSeries oracle(earlier(12'000));
  oracle.samples().add(block(10'000), {});
  oracle.look();
  CHECK(oracle.wants_block());
  CHECK(oracle.is_new());
  oracle.samples().add(block(12'000), {});  // a later block must not bring it back
  oracle.look();
  CHECK(oracle.wants_block());
  REQUIRE(oracle.timing());
  CHECK(oracle.timing()->samples_ns.size() == 48);
  CHECK(oracle.timing()->age_ms == 0);
}

TEST_CASE("without an earlier time all rounds have a block of the oracle") {
  OracleSeries oracle(std::nullopt);
  CHECK(oracle.steady());  // there is no oracle yet that could be noisy
  oracle.samples().add(block(10'000), {});
  oracle.look();
  CHECK(oracle.wants_block());
  CHECK(oracle.is_new());
}
