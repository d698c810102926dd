#include "base/result.h"

#include <fcntl.h>

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
