#include "operators/names.h"

#include <array>
#include <string>

#include "tests/catch.h"

namespace assay::operators {

TEST_CASE("is_identifier accepts Python names in lower case only", "[names]") {
  CHECK(is_identifier("vector_add"));
  CHECK(is_identifier("q8"));
  CHECK_FALSE(is_identifier(""));
  CHECK_FALSE(is_identifier("8q"));
  CHECK_FALSE(is_identifier("_x"));
  CHECK_FALSE(is_identifier("Vector"));
  CHECK_FALSE(is_identifier("../etc"));
  CHECK(is_identifier(std::string(64, 'a')));
  CHECK_FALSE(is_identifier(std::string(65, 'a')));
}

TEST_CASE("nearest finds the closest name, and nothing when no name is close", "[names]") {
  const std::array<std::string_view, 3> names{"vector_add", "layer_norm_fwd", "layer_norm_bwd"};
  CHECK(nearest("vectoradd", names) == "vector_add");
  CHECK(nearest("layer_norm_bw", names) == "layer_norm_bwd");
  CHECK(nearest("conv2d", names).empty());
  CHECK(nearest("", names).empty());
  CHECK(nearest(std::string(100'000, 'x'), names).empty());
  CHECK(nearest("vector_add", {}).empty());
}

}  // namespace assay::operators
