#include "sandbox/profile/profiling.h"

#include "tests/catch.h"

using namespace assay::sandbox;

namespace {

Argument tensor(const std::string& dtype, const std::vector<std::int64_t>& shape,
                const std::vector<std::int64_t>& strides) {
  Argument argument;
  argument.dtype = dtype;
  argument.shape = shape;
  argument.strides = strides;
  return argument;
}

}  // namespace

TEST_CASE("rows are unaligned if their distance is no multiple of 16 bytes") {
  CHECK(unaligned_row_bytes(tensor("float32", {3, 4194301}, {4194301, 1})) == 16777204);
  CHECK(unaligned_row_bytes(tensor("float32", {3, 4096}, {4096, 1})) == 0);
  CHECK(unaligned_row_bytes(tensor("float16", {3, 4}, {4, 1})) == 8);
  CHECK(unaligned_row_bytes(tensor("bool", {3, 16}, {16, 1})) == 0);
  CHECK(unaligned_row_bytes(tensor("float8_e4m3fn", {3, 17}, {17, 1})) == 17);
  CHECK(unaligned_row_bytes(tensor("float32", {4099}, {1})) ==
        0);  // the only row begins where the tensor begins
  CHECK(unaligned_row_bytes(tensor("float32", {1, 4099}, {4099, 1})) == 0);
  Argument scalar;
  scalar.is_tensor = false;
  CHECK(unaligned_row_bytes(scalar) == 0);
}
