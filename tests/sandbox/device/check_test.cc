// Tests checks on the GPU device with the fake driver: a caller's reference is judged by a jailed
// process of its own, and it is never a grade.
#include <string>

#include "tests/catch.h"
#include "tests/sandbox/device/cuda_fixture.h"

using namespace assay;
using namespace assay::sandbox;
using namespace assay::sandbox::testing;

namespace {

Job copy_check(JobKind kind, const std::string& reference) {
  Job job = copy_job(kind, kCopy);
  job.cases.pop_back();
  job.operator_name = "check:same";
  job.operator_dir.clear();
  CheckArgument x;
  x.name = "x";
  x.type = "tensor";
  x.dtype = "float32";
  x.shape = {"n"};
  x.distribution = "normal";
  job.reference =
      CheckReference{.source = reference, .entry = "same", .arguments = {x}, .tolerance = {}};
  job.limits.judge_wall_ms = job.limits.reference_wall_ms;
  return job;
}

constexpr const char* kSame = "def same(x):\n    return x.clone()\n";

}  // namespace

TEST_CASE("a check on a GPU compares the plan's outputs with the caller's reference") {
  const Verdict right = run(copy_check(JobKind::test, kSame));
  INFO(right.summary << " " << right.detail << right.stderr_text);
  REQUIRE(right.outcome == Outcome::pass);
  CHECK(right.tier == Tier::plan);
  const Verdict wrong = run(copy_check(JobKind::test, "def same(x):\n    return x + 1\n"));
  CHECK(wrong.outcome == Outcome::fail);
  CHECK(wrong.error_kind == ErrorKind::wrong_result);
}

TEST_CASE("a profile of a check is timed, without an oracle and without a floor") {
  const Verdict verdict = run(copy_check(JobKind::profile, kSame));
  INFO(verdict.summary << " " << verdict.detail << verdict.stderr_text);
  REQUIRE(verdict.outcome == Outcome::pass);
  CHECK(verdict.cases[0].latency);
  CHECK_FALSE(verdict.cases[0].baseline_latency);
  CHECK_FALSE(verdict.cases[0].pytorch_ns);
}

TEST_CASE("an error of the reference is not the submission's, and does not repeat") {
  const Verdict verdict = run(copy_check(JobKind::test, "def same(x):\n    return x.nope\n"));
  CHECK(verdict.outcome == Outcome::error);
  CHECK(verdict.error_kind == ErrorKind::reference_error);
  CHECK(verdict.detail.find("line 2, `return x.nope`") != std::string::npos);
  CHECK(is_inconclusive(verdict.error_kind));
  CHECK_FALSE(is_infrastructure_error(verdict.error_kind));
}

TEST_CASE("a check is never a grade") {
  const Verdict verdict = run(copy_check(JobKind::grade, kSame));
  CHECK(verdict.error_kind == ErrorKind::unsupported);
  CHECK(verdict.detail == kNoSuchCheck);
}
