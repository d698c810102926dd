#include <cstdint>

#include "operators/catalog.h"
#include "tests/catch.h"

namespace assay::operators {

TEST_CASE("evaluate_extent takes axes, integers and products", "[extent]") {
  const std::map<std::string, std::int64_t> axes{{"rows", 7}, {"cols", 33}};
  CHECK(evaluate_extent("rows", axes).value() == 7);
  CHECK(evaluate_extent("128", axes).value() == 128);
  CHECK(evaluate_extent("0", axes).value() == 0);
  CHECK(evaluate_extent("2*rows*cols", axes).value() == 462);
}

TEST_CASE("evaluate_extent says what is wrong and names the axes", "[extent]") {
  const std::map<std::string, std::int64_t> axes{{"rows", 7}, {"cols", 33}};
  for (const char* text : {"", "*", "rows*", "*rows", "row", "-1", "+1", " rows", "1.5", "rows+1",
                           "0x10", "99999999999999999999"}) {
    INFO(text);
    const Result<std::int64_t> value = evaluate_extent(text, axes);
    REQUIRE_FALSE(value.has_value());
    CHECK(value.error().code == ErrorCode::invalid_argument);
    CHECK(value.error().message.find("axes: cols, rows") != std::string::npos);
  }
  const Result<std::int64_t> large = evaluate_extent("9223372036854775807*2", axes);
  REQUIRE_FALSE(large.has_value());
  CHECK(large.error().message.find("64 bits") != std::string::npos);
  CHECK(evaluate_extent("rows", {}).error().message.find("axes: none") != std::string::npos);
}

}  // namespace assay::operators
