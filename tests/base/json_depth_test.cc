#include "base/json_depth.h"

#include <string>

#include "tests/catch.h"

using namespace assay;

TEST_CASE("brackets in strings are no levels") {
  CHECK_FALSE(deeper_than(R"({"a":"[[[[\"[[["})", 1));
  CHECK(deeper_than("[[]]", 1));
  CHECK_FALSE(deeper_than("[][][]", 1));
}

TEST_CASE("a text is parsed if it nests at most as deeply as the limit") {
  const auto parsed = parse_json(R"({"a": [1, 2]})", 2);
  REQUIRE(parsed);
  CHECK((*parsed)["a"][1] == 2);
  const std::string deep = std::string(100'000, '[') + std::string(100'000, ']');
  for (const std::string& text : {std::string(R"({"a": [[1]]})"), deep, std::string("[[[")}) {
    const auto refused = parse_json(text, 2);
    REQUIRE_FALSE(refused);
    CHECK(refused.error().code == ErrorCode::resource_exhausted);
    CHECK(refused.error().message == "nests deeper than 2 levels");
  }
}

TEST_CASE("a text that is no JSON in UTF-8 is refused") {
  for (const char* text : {"", "{", "[1,]", "\"\xff\"", "nan"}) {
    const auto refused = parse_json(text, 64);
    REQUIRE_FALSE(refused);
    CHECK(refused.error().code == ErrorCode::corrupt);
  }
}
