// Tests the readers of fields in the JSON of a model's provider, which may contain anything.
#include "reference_agents/llm/json_fields.h"

#include "tests/catch.h"

namespace assay::agents {

TEST_CASE("json fields: a value of another type, or beyond 64 bits with a sign, counts as absent") {
  const auto reply = nlohmann::json::parse(
      R"({"usage":{"in":12,"lowest":-9223372036854775808,"highest":9223372036854775807,)"
      R"("huge":18446744073709551615,"beyond":1e30,"text":"7"},"list":[{"x":1}]})");
  CHECK(integer_field(reply, "usage", "in") == 12);
  CHECK(integer_field(reply, "usage", "lowest") == std::numeric_limits<std::int64_t>::min());
  CHECK(integer_field(reply, "usage", "highest") == std::numeric_limits<std::int64_t>::max());
  for (const char* key : {"huge", "beyond", "text", "none"}) {
    INFO(key);
    CHECK(integer_field(reply, "usage", key) == 0);
  }
  CHECK(integer_field(reply, "list", 0, "x") == 1);
  CHECK(integer_field(reply, "list", 1, "x") == 0);
  CHECK(string_field(reply, "usage", "text") == "7");
  CHECK(string_field(reply, "usage", "in").empty());
}

}  // namespace assay::agents
