#include "server/app/store_options.h"

#include <string>

#include "tests/catch.h"

namespace assay::server {
namespace {

StoreLimitOptions limit_options_of(const std::string& line) {
  CLI::App app;
  StoreLimitOptions options;
  add_store_options(app, options);
  app.parse(line);
  return options;
}

}  // namespace

TEST_CASE("limits of the store come from the command line, else from the documentation", "[cli]") {
  const StoreLimits defaults;
  const auto none = store_limits(limit_options_of(""));
  REQUIRE(none);
  CHECK(none->artifacts.job_bytes == defaults.artifacts.job_bytes);
  CHECK(none->artifacts.practice_age_ms == defaults.artifacts.practice_age_ms);
  const std::string line =
      "--artifact-job-bytes 1MiB --artifact-owner-bytes 2GiB --artifact-store-bytes 3TiB "
      "--artifact-age 1d12h --practice-bytes 5MiB --scored-bytes 6GiB";
  const auto limits = store_limits(limit_options_of(line));
  REQUIRE(limits);
  CHECK(limits->artifacts.job_bytes == 1LL << 20);
  CHECK(limits->artifacts.owner_bytes == 2LL << 30);
  CHECK(limits->artifacts.store_bytes == 3LL << 40);
  CHECK(limits->artifacts.practice_age_ms == 129'600'000);
  CHECK(limits->jobs.practice_bytes == 5LL << 20);
  CHECK(limits->jobs.scored_bytes == 6LL << 30);
}

TEST_CASE("a wrong limit of the store is refused with the option and the valid values", "[cli]") {
  for (const char* name : {"--artifact-job-bytes", "--artifact-store-bytes", "--artifact-age",
                           "--practice-bytes", "--scored-bytes"}) {
    INFO(name);
    const auto limits = store_limits(limit_options_of(std::string(name) + " much"));
    REQUIRE_FALSE(limits);
    CHECK(limits.error().code == ErrorCode::invalid_argument);
    CHECK(limits.error().message.starts_with(std::string(name) + ": "));
    CHECK(limits.error().message.find("valid: ") != std::string::npos);
  }
}

TEST_CASE("limits of the store that were given become arguments of another process", "[cli]") {
  CHECK(arguments_of(StoreLimitOptions{}).empty());
  CHECK(arguments_of(limit_options_of("--artifact-age 2h --artifact-job-bytes 1MiB")) ==
        std::vector<std::string>{"--artifact-job-bytes", "1MiB", "--artifact-age", "2h"});
}

}  // namespace assay::server
