#include "sandbox/job/timed_cases.h"

#include "tests/catch.h"

using namespace assay::sandbox;

TEST_CASE(
    "the cases that are timed are those with an eighth of the traffic or of the arithmetic of the "
    "most") {
  CHECK(worth_timing({{.bytes = 2e8, .flops = 6e7}, {.bytes = 1e5, .flops = 3e4}}) ==
        std::vector<bool>{true, false});
  CHECK(worth_timing({{.bytes = 800, .flops = 800},
                      {.bytes = 100, .flops = 1},
                      {.bytes = 1, .flops = 100},
                      {.bytes = 99, .flops = 99}}) == std::vector<bool>{true, true, true, false});
  // The one with the most traffic need not be the one with the most arithmetic.
  CHECK(worth_timing(
            {{.bytes = 800, .flops = 1}, {.bytes = 1, .flops = 800}, {.bytes = 1, .flops = 1}}) ==
        std::vector<bool>{true, true, false});
}

TEST_CASE(
    "a case without arithmetic is not large for having none, and without any costs all are timed") {
  CHECK(worth_timing({{.bytes = 800, .flops = 0}, {.bytes = 1, .flops = 0}}) ==
        std::vector<bool>{true, false});
  CHECK(worth_timing({{}, {}}) == std::vector<bool>{true, true});
  CHECK(worth_timing({}).empty());
  CHECK(worth_timing({{.bytes = 1e5, .flops = 3e4}}) == std::vector<bool>{true});
}
