#include "base/units.h"

#include "tests/catch.h"

namespace assay {

TEST_CASE("durations in days, hours, minutes and seconds") {
  CHECK(seconds_from("90").value() == 90);
  CHECK(seconds_from("90s").value() == 90);
  CHECK(seconds_from("15m").value() == 900);
  CHECK(seconds_from("1h30m").value() == 5'400);
  CHECK(seconds_from("1h0m5s").value() == 3'605);
  CHECK(seconds_from("7d").value() == 604'800);
  CHECK(seconds_from("3650d").value() == 315'360'000);
  for (const char* bad : {"", "0", "-5", "5w", "m", "1m1h", "5m5m", "1.5h", "999999999999999999999",
                          "3651d", "3650d1s", "10 m", "1h30", "1h0m5"}) {
    INFO(bad);
    REQUIRE_FALSE(seconds_from(bad));
    CHECK(seconds_from(bad).error().code == ErrorCode::invalid_argument);
    CHECK(seconds_from(bad).error().message.find("1h30m") != std::string::npos);
  }
}

TEST_CASE("sizes in powers of 1,024") {
  CHECK(bytes_from("4096").value() == 4'096);
  CHECK(bytes_from("64KiB").value() == 65'536);
  CHECK(bytes_from("512MiB").value() == 536'870'912);
  CHECK(bytes_from("1GiB").value() == 1'073'741'824);
  CHECK(bytes_from("1024TiB").value() == 1LL << 50);
  for (const char* bad : {"", "0", "-1", "0GiB", "GiB", "1GB", "1gib", "1.5GiB", "1 GiB", "1025TiB",
                          "9223372036854775807KiB", "99999999999999999999"}) {
    INFO(bad);
    REQUIRE_FALSE(bytes_from(bad));
    CHECK(bytes_from(bad).error().code == ErrorCode::invalid_argument);
    CHECK(bytes_from(bad).error().message.find("64KiB") != std::string::npos);
  }
}

TEST_CASE("a size is shown in its largest unit, and a duration can be read back") {
  CHECK(bytes_text(0) == "0 B");
  CHECK(bytes_text(1'023) == "1023 B");
  CHECK(bytes_text(1'024) == "1 KiB");
  CHECK(bytes_text(1'610'612'736) == "1.5 GiB");
  CHECK(bytes_text((1LL << 50) + 1) == "1024 TiB");
  CHECK(seconds_text(90'000) == "1d1h");
  CHECK(seconds_text(59) == "59s");
  for (const std::int64_t seconds : {1LL, 60LL, 3'661LL, 604'800LL, 315'360'000LL})
    CHECK(seconds_from(seconds_text(seconds)).value() == seconds);
}

}  // namespace assay
