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

Verdict grade(const std::string& source) {
  Job job = copy_job(JobKind::grade, source);
  job.cases.resize(1);
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
