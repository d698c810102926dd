#include "server/app/store_options.h"

#include <string>

#include "tests/catch.h"

namespace assay::server {
namespace {

StoreOptions store_options_of(const std::string& line) {
  CLI::App app;
  StoreOptions options;
  add_store_options(app, options);
  app.parse(line);
  return options;
}

}  // namespace

TEST_CASE("limits of artifacts come from the command line, else from the documentation", "[cli]") {
  const ArtifactLimits defaults;
  const auto none = store_limits(store_options_of(""));
  REQUIRE(none);
  CHECK(none->job_bytes == defaults.job_bytes);
  CHECK(none->practice_age_ms == defaults.practice_age_ms);
  const std::string line =
      "--artifact-job-bytes 1MiB --artifact-owner-bytes 2GiB --artifact-store-bytes 3TiB "
      "--artifact-age 1d12h";
  const auto limits = store_limits(store_options_of(line));
  REQUIRE(limits);
  CHECK(limits->job_bytes == 1LL << 20);
  CHECK(limits->owner_bytes == 2LL << 30);
  CHECK(limits->store_bytes == 3LL << 40);
  CHECK(limits->practice_age_ms == 129'600'000);
}

TEST_CASE("a wrong limit of artifacts is refused with the option and the valid values", "[cli]") {
  for (const char* name : {"--artifact-job-bytes", "--artifact-store-bytes", "--artifact-age"}) {
    INFO(name);
    const auto limits = store_limits(store_options_of(std::string(name) + " much"));
    REQUIRE_FALSE(limits);
    CHECK(limits.error().code == ErrorCode::invalid_argument);
    CHECK(limits.error().message.starts_with(std::string(name) + ": "));
    CHECK(limits.error().message.find("valid: ") != std::string::npos);
  }
}

TEST_CASE("limits of artifacts that were given become arguments of another process", "[cli]") {
  CHECK(arguments_of(StoreOptions{}).empty());
  CHECK(arguments_of(store_options_of("--artifact-age 2h --artifact-job-bytes 1MiB")) ==
        std::vector<std::string>{"--artifact-job-bytes", "1MiB", "--artifact-age", "2h"});
}

}  // namespace assay::server
