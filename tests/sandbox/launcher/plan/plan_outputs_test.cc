#include "sandbox/launcher/plan/plan_outputs.h"

#include <cstdint>
#include <vector>

#include "tests/catch.h"

using namespace assay;
using namespace assay::sandbox;

TEST_CASE("outputs lie one after the other, aligned") {
  Plan plan;
  plan.outputs = {
      {0, 0, "uint8", {3}, {1}}, {0, 0, "float64", {}, {}}, {0, 0, "float16", {2, 2}, {1, 8}}};
  CHECK(output_offsets(plan) == std::vector<std::uint64_t>{0, 256, 512, 532});
}

TEST_CASE("a dtype has its bytes, and the names of all are listed") {
  CHECK(dtype_bytes("bfloat16") == 2u);
  CHECK_FALSE(dtype_bytes("float12"));
  CHECK(dtype_names().starts_with("float64, float32, "));
}

TEST_CASE("a span that does not fit 64 bits is no span") {
  CHECK_FALSE(output_span_bytes({0, 0, "float64", {2}, {INT64_MAX}}));
  CHECK(output_span_bytes({0, 0, "float64", {0, 7}, {1, 1}}) == 0u);
}
