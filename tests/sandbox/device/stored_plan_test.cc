// Tests jobs that replay stored launch plans instead of recording a submission.
#include <map>
#include <string>

#include "base/handle.h"
#include "tests/catch.h"
#include "tests/sandbox/device/cuda_fixture.h"

using namespace assay;
using namespace assay::sandbox;
using namespace assay::sandbox::testing;

namespace {

/// Returns the plans of the public cases by case id.
std::map<std::string, std::string> plans_of(const Verdict& verdict) {
  std::map<std::string, std::string> plans;
  for (const Artifact& one : verdict.artifacts) {
    if (one.kind == "plan") plans[one.name.substr(0, one.name.find(' '))] = one.bytes;
  }
  return plans;
}

/// Returns a job that replays the plan of `source` for the public case.
Job replay_of(JobKind kind, const std::string& source) {
  Job job = copy_job(JobKind::test, source);
  job.want_artifacts = true;
  job.cases.resize(1);
  job.plans = plans_of(run(job));
  REQUIRE(job.plans.size() == 1);
  job.want_artifacts = false;
  job.kind = kind;
  job.source.clear();
  return job;
}

}  // namespace

TEST_CASE("a stored plan is replayed without its submission, and the verdict has the plan's hash") {
  const Job job = replay_of(JobKind::test, kCopy);
  const Verdict verdict = run(job);
  INFO(verdict.summary << " " << verdict.detail);
  REQUIRE(verdict.outcome == Outcome::pass);
  CHECK(verdict.tier == Tier::plan);
  CHECK(verdict.tier_reason.find("recorded before") != std::string::npos);
  CHECK(verdict.provenance.source_sha256.empty());
  REQUIRE(verdict.provenance.plans);
  CHECK(*verdict.provenance.plans ==
        std::map<std::string, std::string>{{"public64", sha256_hex(job.plans.at("public64"))}});
  CHECK(verdict.stage_ms.count("import") == 0);
  CHECK(verdict.stage_ms.count("record") == 0);
  CHECK_FALSE(run(copy_job(JobKind::test, kCopy)).provenance.plans);
}

TEST_CASE("a stored plan gets fresh inputs and is timed like any other plan") {
  Job job = replay_of(JobKind::grade, kCopy);
  job.baseline_source = kClone;
  const Verdict first = run(job), second = run(job);
  INFO(first.summary << " " << first.detail);
  REQUIRE(first.outcome == Outcome::pass);
  REQUIRE(first.perf);
  CHECK(first.cases[0].latency->samples_ns.size() >= 30);
  CHECK(first.provenance.seeds != second.provenance.seeds);
}

TEST_CASE(
    "a stored plan with wrong results fails, one without a kernel is unattributed, and an invalid "
    "one is refused") {
  const std::string wrong =
      kKernel +
      "def plain_copy(x):\n    y = torch.zeros_like(x)\n    fake_nothing[(1,)](y)\n    return y\n";
  CHECK(run(replay_of(JobKind::test, kCopy)).error_kind == ErrorKind::none);
  Job job = replay_of(JobKind::test, kCopy);
  const std::string right = job.plans.at("public64");
  job.plans["public64"] = right.substr(0, right.size() - 1);
  CHECK(run(job).error_kind == ErrorKind::invalid_plan);
  job.plans["public64"] = "ASSAYPLN";
  CHECK(run(job).error_kind == ErrorKind::invalid_plan);
  job.plans = {{"another", right}};
  const Verdict missing = run(job);
  CHECK(missing.error_kind == ErrorKind::invalid_plan);
  CHECK(missing.detail.find("public64") != std::string::npos);
  Job recorded = copy_job(JobKind::test, wrong);
  recorded.want_artifacts = true;
  recorded.cases.resize(1);
  job.plans = plans_of(run(recorded));
  REQUIRE(job.plans.size() == 1);
  CHECK(run(job).error_kind == ErrorKind::wrong_result);
  recorded.source = "def plain_copy(x):\n    return x.clone()\n";
  job.plans = plans_of(run(recorded));
  CHECK(run(job).error_kind == ErrorKind::unattributed);
  job.kind = JobKind::compile;
  CHECK(run(job).error_kind == ErrorKind::unsupported);
}
