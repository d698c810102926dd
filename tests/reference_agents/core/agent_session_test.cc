#include "reference_agents/core/agent_session.h"

#include <string>

#include "tests/catch.h"

using namespace assay;
using namespace assay::agents;

TEST_CASE("places are filled once, and places inside of values stay") {
  CHECK(*fill_places("{{a}}-{{b}}-{{a}}", {{"a", "{{b}}"}, {"b", "2"}}) == "{{b}}-2-{{b}}");
  CHECK(fill_places("{{a}}", {}).error().message.find("{{a}}") != std::string::npos);
  CHECK(fill_places("a", {{"a", "1"}}).error().message.find("{{a}}") != std::string::npos);
  CHECK_FALSE(fill_places("{{a", {{"a", "1"}}));
  CHECK_FALSE(fill_prompt("/no/such/file.md", {}));
}
