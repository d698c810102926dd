#include "reference_agents/llm/number_options.h"

#include <string>
#include <vector>

#include "tests/catch.h"

using namespace assay;
using namespace assay::agents;

namespace {

const std::vector<NumberOption> kKnown = {{"rounds", 8, 1, 100, "how many", true},
                                          {"share", 0.5, 0, 1, "how much"}};

}  // namespace

TEST_CASE("options after a name") {
  const auto plain = parse_options("leader", kKnown);
  REQUIRE(plain);
  CHECK(plain->name == "leader");
  CHECK(plain->values == NumberValues{{"rounds", 8}, {"share", 0.5}});
  CHECK(parse_options("leader?share=0.25&rounds=4", kKnown)->values ==
        NumberValues{{"rounds", 4}, {"share", 0.25}});
}

TEST_CASE("the error for an unknown or invalid option lists the valid ones") {
  for (const char* bad : {"a?", "a?x=1", "a?rounds", "a?rounds=", "a?rounds=0", "a?rounds=101",
                          "a?rounds=1.5", "a?rounds=4x", "a?share=nan", "a?share=inf",
                          "a?rounds=4&rounds=4", "a?rounds=4&", "a?=1", "a?rounds=4?share=1"}) {
    INFO(bad);
    const auto refused = parse_options(bad, kKnown);
    REQUIRE_FALSE(refused);
    CHECK(refused.error().code == ErrorCode::invalid_argument);
    CHECK(refused.error().message.find(
              "rounds=8 (1 to 100): how many; share=0.5 (0 to 1): how much") != std::string::npos);
  }
}
