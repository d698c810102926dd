#include "reference_agents/geak/instance.h"

#include <string>

#include "tests/catch.h"

using namespace assay::agents;

namespace {

Ancestor version(const std::string& code, double perf) {
  Ancestor ancestor;
  ancestor.code = code;
  ancestor.evaluation.level = Level::correct;
  ancestor.evaluation.perf = perf;
  ancestor.reflection = "because of " + code;
  return ancestor;
}

}  // namespace

TEST_CASE("the fastest few, shown from slow to fast") {
  Ancestors pool(2);
  CHECK(pool.empty());
  for (const auto& [code, perf] : {std::pair{"b", 0.5}, std::pair{"c", 2.0}, std::pair{"a", 0.1},
                                   std::pair{"c", 2.0}, std::pair{"d", 1.0}}) {
    pool.add(version(code, perf));
  }
  REQUIRE(pool.all().size() == 2);
  CHECK(pool.all()[0].code == "d");
  CHECK(pool.fastest().code == "c");
  const std::string text = pool.text();
  CHECK(text.find("1.00 x") < text.find("2.00 x"));
  CHECK(text.find("because of c") != std::string::npos);
}
