#include "base/try.h"

#include <memory>
#include <string>

#include "tests/catch.h"

namespace assay {
namespace {

Result<std::unique_ptr<int>> made(int value, int& calls) {
  ++calls;
  if (value < 0) return fail(ErrorCode::invalid_argument, "negative");
  return std::make_unique<int>(value);
}

Status checked(int value) {
  if (value > 9) return fail(ErrorCode::resource_exhausted, "large");
  return {};
}

Result<int> sum(int first, int second, int& calls) {
  ASSAY_TRY(left, made(first, calls));
  ASSAY_TRY(right, made(second, calls));
  const std::unique_ptr<int> taken = std::move(left);
  if (second == 0) ASSAY_RETURN_IF_ERROR(checked(*taken));
  ASSAY_RETURN_IF_ERROR(checked(*taken + *right));
  return *taken + *right;
}

}  // namespace

TEST_CASE("a value is usable by its name, and each expression is evaluated once") {
  int calls = 0;
  CHECK(sum(3, 4, calls) == 7);
  CHECK(calls == 2);
}

TEST_CASE("the first error ends the function, with code and message unchanged") {
  int calls = 0;
  const auto negative = sum(-1, 4, calls);
  REQUIRE_FALSE(negative);
  CHECK(negative.error().code == ErrorCode::invalid_argument);
  CHECK(negative.error().message == "negative");
  CHECK(calls == 1);
  CHECK(sum(5, 6, calls).error().code == ErrorCode::resource_exhausted);
  CHECK(sum(11, 0, calls).error().message == "large");
}

}  // namespace assay
