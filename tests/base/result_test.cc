#include "base/result.h"

#include <fcntl.h>

#include <memory>
#include <string>

#include "base/clock.h"
#include "base/unique_fd.h"
#include "tests/catch.h"

using namespace assay;

TEST_CASE("errors carry a code, a name and a message") {
  const Result<int> result = fail(ErrorCode::not_found, "no such thing; valid: a, b");
  REQUIRE_FALSE(result);
  CHECK(to_string(result.error().code) == "not_found");
  CHECK(result.error().message == "no such thing; valid: a, b");
  const Status failed = fail_errno("open /x", ENOENT);
  CHECK(failed.error().code == ErrorCode::io);
  CHECK(failed.error().message == "open /x: No such file or directory");
}

TEST_CASE("a UniqueFd closes what it owns, once") {
  const int raw = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
  {
    UniqueFd first(raw);
    UniqueFd second(std::move(first));
    CHECK_FALSE(first.valid());
    CHECK(second.get() == raw);
  }
  CHECK(::fcntl(raw, F_GETFD) == -1);
}

TEST_CASE("clocks") {
  ManualClock manual;
  const auto before = manual.unix_ms();
  manual.advance_ms(5);
  CHECK(manual.unix_ms() == before + 5);
  CHECK(manual.monotonic_ns() % 1'000'000 == 0);
  const SystemClock system;
  CHECK(system.unix_ms() > 1'700'000'000'000);
}

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
