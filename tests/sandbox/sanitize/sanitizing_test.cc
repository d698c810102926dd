// Tests jobs that use Compute Sanitizer. The GPU has the fake driver, and a script takes the place
// of compute-sanitizer while the plans are replayed.
#include "sandbox/sanitize/sanitizing.h"

#include <algorithm>
#include <memory>
#include <string>

#include "tests/catch.h"
#include "tests/sandbox/device/cuda_fixture.h"
#include "tests/sandbox/sanitize/sanitizer_script.h"

using namespace assay;
using namespace assay::sandbox;
using namespace assay::sandbox::testing;

namespace {

constexpr int kTools = static_cast<int>(kSanitizerTools.size());

SandboxConfig with_sanitizer(const std::string& path, bool grades = false) {
  SandboxConfig config = real_config();
  config.sanitizer = path;
  config.sanitize = grades;
  return config;
}

Verdict execute(const SandboxConfig& config, const Job& job) {
  Result<std::unique_ptr<Device>> device =
      make_cuda_device(config, {.index = 0, .driver = "fake", .judge_device = "cpu"});
  REQUIRE(device);
  JobMonitor monitor;
  return (*device)->execute(job, monitor);
}

Job watched_profile() {
  Job job = copy_job(JobKind::profile, kCopy);
  job.cases.resize(1);
  job.detail = ProfileDetail::sanitize;
  return job;
}

std::int64_t reports_in(const Verdict& verdict) {
  return std::count_if(verdict.artifacts.begin(), verdict.artifacts.end(),
                       [](const Artifact& one) { return one.kind == "sanitizer"; });
}

}  // namespace

TEST_CASE("why nothing can be replayed under the sanitizer") {
  SandboxConfig config;
  CHECK(sanitizer_problem(config, "cuda").find("was not found") != std::string::npos);
  config.sanitizer = "/opt/compute-sanitizer";
  CHECK(sanitizer_problem(config, "cuda").empty());
  CHECK(sanitizer_problem(config, "hip").find("does not see kernels on AMD's GPUs") !=
        std::string::npos);
}

TEST_CASE("a profile without a finding names the tools that ran, and goes on") {
  const SanitizerScript script;
  const Verdict verdict = execute(with_sanitizer(script.path()), watched_profile());
  INFO(verdict.summary << " " << verdict.detail);
  CHECK(verdict.outcome == Outcome::pass);
  REQUIRE(verdict.sanitizer);
  CHECK(verdict.sanitizer->tools.size() == kTools);
  CHECK(verdict.sanitizer->total == 0);
  CHECK(verdict.sanitizer->case_id == "public64");
  CHECK(reports_in(verdict) == kTools);
  REQUIRE(verdict.profile);
  CHECK(verdict.profile->detail == ProfileDetail::sanitize);
}

TEST_CASE("a finding fails a profile, and no later tool runs") {
  const SanitizerScript script;
  script.set_records(SanitizerTool::racecheck, kSharedRace + kSharedRace);
  const Verdict verdict = execute(with_sanitizer(script.path()), watched_profile());
  INFO(verdict.summary << " " << verdict.detail);
  CHECK(verdict.outcome == Outcome::fail);
  CHECK(verdict.error_kind == ErrorKind::race);
  REQUIRE(verdict.sanitizer);
  CHECK(verdict.sanitizer->tools == std::vector{SanitizerTool::memcheck, SanitizerTool::racecheck});
  CHECK(verdict.sanitizer->total == 2);
  REQUIRE(verdict.cases.size() == 1);
  CHECK(verdict.cases[0].reason.find("racecheck: Race reported") != std::string::npos);
  CHECK(verdict.cases[0].reason.find("the first of 2 findings") != std::string::npos);
  CHECK_FALSE(verdict.cases[0].latency);
}

TEST_CASE("a finding fails a grade whose outputs are right; without the option it passes") {
  const SanitizerScript script;
  script.set_records(SanitizerTool::memcheck, kStrayRead);
  const Job grade = copy_job(JobKind::grade, kCopy);
  const Verdict plain = execute(with_sanitizer(script.path()), grade);
  CHECK(plain.outcome == Outcome::pass);
  CHECK_FALSE(plain.sanitizer);
  const Verdict verdict = execute(with_sanitizer(script.path(), true), grade);
  INFO(verdict.summary << " " << verdict.detail);
  CHECK(verdict.outcome == Outcome::fail);
  CHECK(verdict.error_kind == ErrorKind::memory_error);
  REQUIRE(verdict.cases.size() == 2);
  CHECK(verdict.cases[0].outcome == Outcome::fail);
  CHECK(verdict.cases[1].outcome == Outcome::pass);
  CHECK_FALSE(verdict.perf);
}

TEST_CASE("every tool runs on a hidden case, and its report is no artifact") {
  const SanitizerScript script;
  script.set_records(SanitizerTool::memcheck, kStrayRead);
  Job grade = copy_job(JobKind::grade, kCopy);
  grade.cases.erase(grade.cases.begin());
  const Verdict verdict = execute(with_sanitizer(script.path(), true), grade);
  INFO(verdict.summary << " " << verdict.detail);
  CHECK(verdict.outcome == Outcome::fail);
  CHECK(verdict.error_kind == ErrorKind::memory_error);
  REQUIRE(verdict.sanitizer);
  CHECK(verdict.sanitizer->tools.size() == kTools);
  CHECK(reports_in(verdict) == 0);
}

TEST_CASE("a grade without a finding passes, and is timed") {
  const SanitizerScript script;
  const Verdict verdict =
      execute(with_sanitizer(script.path(), true), copy_job(JobKind::grade, kCopy));
  INFO(verdict.summary << " " << verdict.detail);
  CHECK(verdict.outcome == Outcome::pass);
  CHECK(std::any_of(verdict.cases.begin(), verdict.cases.end(),
                    [](const CaseRecord& record) { return record.latency.has_value(); }));
}

TEST_CASE("a sanitizer that fails is no fault of the submission") {
  for (const char* after : {"exit 0\n",                      // no report
                            "echo '<Comp' > \"$report\"\n",  // half a report
                            "cat \"$folder/$tool.xml\" > \"$report\"; exit 1\n",
                            "cat \"$folder/$tool.xml\" > \"$report\"; kill -9 $$\n"}) {
    const SanitizerScript script(after);
    const Verdict verdict = execute(with_sanitizer(script.path()), watched_profile());
    INFO(after << verdict.summary << " " << verdict.detail);
    CHECK(verdict.outcome == Outcome::error);
    CHECK(verdict.error_kind == ErrorKind::internal_error);
    CHECK(verdict.detail.find("memcheck") != std::string::npos);
    CHECK(reports_in(verdict) == 1);  // this report has the sanitizer's output
  }
}

TEST_CASE("a sanitizer that does not end reaches its time limit") {
  const SanitizerScript script("sleep 60\n");
  SandboxConfig config = with_sanitizer(script.path());
  config.sanitize_wall_ms = 2'000;
  const Verdict verdict = execute(config, watched_profile());
  INFO(verdict.summary << " " << verdict.detail);
  CHECK(verdict.error_kind == ErrorKind::internal_error);
}

TEST_CASE("without a sanitizer the job is unsupported, and the answer says how to install one") {
  const Verdict verdict = execute(with_sanitizer(""), watched_profile());
  CHECK(verdict.error_kind == ErrorKind::unsupported);
  CHECK(verdict.detail.find("nvidia-cuda-sanitizer-api") != std::string::npos);
}
