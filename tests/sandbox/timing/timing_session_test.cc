// Tests grades of autotuned submissions: the judge attributes the outputs to the configuration that
// was timed. The launcher of the GPU runs the fake driver.
#include "sandbox/timing/timing_session.h"

#include <string>

#include "tests/catch.h"
#include "tests/sandbox/device/cuda_fixture.h"

using namespace assay;
using namespace assay::sandbox;
using namespace assay::sandbox::testing;

namespace {

Verdict grade(const std::string& source, const std::string& oracle = "") {
  Job job = copy_job(JobKind::grade, source);
  job.cases.resize(1);
  job.baseline_source = oracle;
  Verdict verdict = run(job);
  INFO(verdict.summary << " " << verdict.detail);
  REQUIRE(verdict.cases.size() == 1);
  return verdict;
}

}  // namespace

TEST_CASE("an autotuned submission whose fastest alternative does the work passes") {
  const Verdict verdict = grade(tuned("pass"));
  CHECK(verdict.outcome == Outcome::pass);
  CHECK(verdict.cases[0].latency);
}

TEST_CASE("a grade has a block of the submission in each of three rounds, and two of the oracle") {
  const Verdict verdict = grade(kCopy, kCopy);
  CHECK(verdict.outcome == Outcome::pass);
  REQUIRE(verdict.cases[0].latency);
  REQUIRE(verdict.cases[0].baseline_latency);
  // All runs take equally long on the fake driver, so each block has the least number of samples.
  CHECK(verdict.cases[0].latency->samples_ns.size() == 30);
  CHECK(verdict.cases[0].baseline_latency->samples_ns.size() == 20);
}

TEST_CASE("a fault in the timing of a case is the fault of that case") {
  const Verdict verdict = grade(tuned("fake_fault[(1,)]()"));
  CHECK(verdict.outcome == Outcome::error);
  CHECK(verdict.error_kind == ErrorKind::gpu_fault);
  CHECK(verdict.cases[0].outcome == Outcome::error);
  CHECK(verdict.cases[0].reason.starts_with("right at first, ended when it was timed"));
}

TEST_CASE("the work of the alternative that was timed is attributed, not that of the first one") {
  const Verdict verdict = grade(tuned(R"(args["y"].copy_(args["x"]))"));
  CHECK(verdict.outcome == Outcome::fail);
  CHECK(verdict.error_kind == ErrorKind::unattributed);
}
