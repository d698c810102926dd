#include "server/app/option_groups.h"

#include <string>

#include "tests/catch.h"

using namespace assay;
using namespace assay::server;

namespace {

/// Returns the options of a command line. Throws the exceptions of CLI11.
SandboxOptions read(const std::string& line) {
  CLI::App app;
  SandboxOptions options;
  add_sandbox_options(app, options);
  app.parse(line);
  return options;
}

}  // namespace

TEST_CASE("limits of jobs come from the command line, else from the documentation", "[cli]") {
  const sandbox::Limits defaults;
  CHECK(read("").limits.run_wall_ms == defaults.run_wall_ms);
  CHECK(read("").limits.memory_bytes == defaults.memory_bytes);
  const SandboxOptions options =
      read("--import-wall-ms 5000 --run-wall-ms 4000 --memory-mib 1024 --cpu-percent 150");
  CHECK(options.limits.import_wall_ms == 5'000);
  CHECK(options.limits.run_wall_ms == 4'000);
  CHECK(options.limits.memory_bytes == 1024LL << 20);
  CHECK(options.limits.cpu_percent == 150);
}

TEST_CASE("limits that no job could work with are refused", "[cli]") {
  for (const char* line :
       {"--run-wall-ms 0", "--run-wall-ms -5", "--import-wall-ms 99999999", "--memory-mib 1",
        "--cpu-percent 0", "--recorders 0", "--gpu-jobs 0", "--recording-jobs 0",
        "--recorder-cores 0", "--gpu-sharers 17", "--spare-launchers 129", "--launcher-starts 0",
        "--host-case-bytes -1", "--host-case-bytes 2000000000", "--judges 0", "--run-wall-ms soon",
        "--compile-target cuda:1"}) {
    INFO(line);
    CHECK_THROWS_AS(read(line), CLI::ParseError);
  }
}

TEST_CASE("the GPU's share of the machine comes from the command line", "[cli]") {
  const auto config = sandbox_config(
      read("--recorders 3 --gpu-jobs 9 --recording-jobs 6 --recorder-cores 12 --gpu-sharers 5 "
           "--judges 4 --spare-launchers 6 --launcher-starts 8 --host-case-bytes 4096"),
      Paths{});
  REQUIRE(config);
  CHECK(config->recorders == 3);
  CHECK(config->gpu_jobs == 9);
  CHECK(config->recording_jobs == 6);
  CHECK(config->recorder_cores == 12);
  CHECK(config->gpu_sharers == 5);
  CHECK(config->judges == 4);
  CHECK(config->spare_launchers == 6);
  CHECK(config->launcher_starts == 8);
  CHECK(config->host_case_bytes == 4096);
  CHECK(sandbox_config(read(""), Paths{})->spare_launchers == 0);
  CHECK(sandbox_config(read(""), Paths{})->host_case_bytes == 256 << 10);
  CHECK(config->parked_candidates == 15);
  CHECK(read("").recording_jobs >= read("").gpu_sharers);
  CHECK(read("").gpu_jobs > read("").recording_jobs);
}

TEST_CASE("options that differ from the defaults become arguments of another process", "[cli]") {
  CHECK(arguments_of(read("")).empty());
  const std::string chosen =
      "--isolation strict --import-wall-ms 5000 --memory-mib 1024 --run-wall-ms 4000 "
      "--judge-wall-ms 3000 "
      "--cpu-percent "
      "150 --recorders 3 --gpu-jobs 31 --recording-jobs 5 --recorder-cores 9 --judges 7 "
      "--gpu-sharers 13 --spare-launchers 7 --launcher-starts 5 --host-case-bytes 9 --ncu none "
      "--rocprofv3 none "
      "--sanitizer /bin/sh --sanitize-wall-ms 5000 "
      "--sanitize "
      "--compile-target cuda:80 --no-host-tier --allow-unjailed-device";
  std::string again;
  for (const std::string& argument : arguments_of(read(chosen)))
    again += (again.empty() ? "" : " ") + argument;
  CHECK(again == chosen);
}

TEST_CASE("candidates are parked with the limits of the jobs", "[cli]") {
  const auto config = sandbox_config(read("--memory-mib 512 --isolation strict"), Paths{});
  REQUIRE(config);
  CHECK(config->job_limits.memory_bytes == 512LL << 20);
  CHECK(config->isolation == sandbox::Isolation::strict);
  CHECK_FALSE(config->spawn);
  CHECK(sandbox_config(read("--isolation spawn"), Paths{})->spawn);
  CHECK(sandbox_config(read("--isolation spawn"), Paths{})->isolation ==
        sandbox::Isolation::best_effort);
  const auto both = sandbox_config(read("--isolation strict,spawn"), Paths{});
  CHECK(both->spawn);
  CHECK(both->isolation == sandbox::Isolation::strict);
  for (const char* wrong : {"loose", "strict,", "strict,loose"}) {
    const auto refused = sandbox_config(read(std::string("--isolation=") + wrong), Paths{});
    INFO(wrong);
    CHECK_FALSE(refused);
  }
}

TEST_CASE("layers cannot be left out of a build for use", "[cli]") {
  CHECK_THROWS_AS(read("--without seccomp"), CLI::ParseError);
}

TEST_CASE("grades run under a sanitizer only if there is one", "[cli]") {
  const auto config =
      sandbox_config(read("--sanitizer /bin/sh --sanitize --sanitize-wall-ms 4000"), Paths{});
  REQUIRE(config);
  CHECK(config->sanitizer == "/bin/sh");
  CHECK(config->sanitize);
  CHECK(config->sanitize_wall_ms == 4'000);
  CHECK_FALSE(sandbox_config(read("--sanitizer /bin/sh"), Paths{})->sanitize);
  const auto none = sandbox_config(read("--sanitizer none --sanitize"), Paths{});
  REQUIRE_FALSE(none);
  CHECK(none.error().message.find("pip install nvidia-cuda-sanitizer-api") != std::string::npos);
  CHECK_FALSE(sandbox_config(read("--sanitizer here"), Paths{}));
  CHECK_THROWS_AS(read("--sanitize-wall-ms 1"), CLI::ParseError);
}
