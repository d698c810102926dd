#include "base/log.h"

#include <array>
#include <string>

#include "tests/base/log_file.h"
#include "tests/catch.h"

using namespace assay;
using assay::testing::LogFile;

TEST_CASE("text lines have time, level, message and fields") {
  const LogFile file(log::Level::info, log::Format::text);
  log::info("job finished", {{"job", "job_2f"}, {"ok", true}, {"cases", 3}, {"ms", 12.5}});
  const std::string line = file.text();
  CHECK(line.substr(24) == " info job finished job=job_2f ok=true cases=3 ms=12.5\n");
  CHECK(line.substr(10, 1) == "T");
  CHECK(line.substr(23, 1) == "Z");
}

TEST_CASE("JSON lines have the same fields") {
  const LogFile file(log::Level::info, log::Format::json);
  log::warning("a \"quoted\" word", {{"path", "C:\\x"}, {"count", 2}});
  const std::string line = file.text();
  CHECK(line.substr(0, 9) == "{\"time\":\"");
  CHECK(line.find(R"("level":"warning","message":"a \"quoted\" word","path":"C:\\x","count":2})") !=
        std::string::npos);
}

TEST_CASE("lines below the level are left out") {
  const LogFile file(log::Level::warning, log::Format::text);
  log::debug("one");
  log::info("two");
  log::warning("three");
  log::error("four");
  CHECK(file.text().find("two") == std::string::npos);
  CHECK(file.text().find("three") != std::string::npos);
  CHECK(file.text().find("four") != std::string::npos);
}

TEST_CASE("level off leaves out every line") {
  const LogFile file(log::Level::off, log::Format::text);
  log::error("four");
  CHECK(file.text().empty());
}

TEST_CASE("a value cannot begin a line of its own") {
  const std::array<log::Field, 1> fields = {{{"error", "one\ntwo \x1b[2J \"x\""}}};
  CHECK(log::format_fields(log::Format::text, "m", fields.data(), 1) ==
        R"(m error="one\ntwo \\x1b[2J \"x\"")");
}

TEST_CASE("names of levels and formats are known, others are not") {
  CHECK(log::level_named("trace") == log::Level::trace);
  CHECK(log::level_named("off") == log::Level::off);
  CHECK(!log::level_named("loud"));
  CHECK(log::format_named("json") == log::Format::json);
  CHECK(!log::format_named("xml"));
}

TEST_CASE("a file that cannot be opened is an error, and the log stays") {
  const LogFile file(log::Level::info, log::Format::text);
  const Status failed = log::configure({.file = "/proc/nowhere/assay.log"});
  REQUIRE(!failed);
  CHECK(failed.error().message.find("the log file") == 0);
  log::info("still here");
  CHECK(file.text().find("still here") != std::string::npos);
}
