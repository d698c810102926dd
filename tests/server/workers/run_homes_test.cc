#include "server/workers/run_homes.h"

#include "tests/catch.h"

using assay::server::RunHomes;

TEST_CASE("the home of a run is the worker of its last job") {
  RunHomes homes(8);
  CHECK_FALSE(homes.of("run_1"));
  homes.set("run_1", 7);
  homes.set("run_2", 8);
  CHECK(homes.of("run_1") == 7);
  homes.set("run_1", 9);
  CHECK(homes.of("run_1") == 9);
  homes.set("", 3);
  CHECK_FALSE(homes.of(""));
}

TEST_CASE("the run whose last job is the oldest is forgotten first") {
  RunHomes homes(2);
  homes.set("run_1", 1);
  homes.set("run_2", 2);
  homes.set("run_1", 1);
  homes.set("run_3", 3);
  CHECK_FALSE(homes.of("run_2"));
  CHECK(homes.of("run_1") == 1);
  CHECK(homes.of("run_3") == 3);
}
