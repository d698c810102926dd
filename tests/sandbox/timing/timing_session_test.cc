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

/// Returns a submission that copies its input with an autotuned kernel. The autotuner has two
/// configurations. The first configuration is slow: before its kernel it fills the output many
/// times. `hook` runs before the kernel of the second configuration.
std::string tuned(const std::string& hook) {
  return kImports + R"(
@triton.jit
def fake_copy(x, y, n, B: triton.language.constexpr):
    pass

@triton.jit
def fake_fault():
    pass

def slow(args):
    for _ in range(40):
        args["y"].zero_()

def fast(args):
    )" + hook +
         R"(

configs = [triton.Config({"B": 64}, pre_hook=slow), triton.Config({"B": 128}, pre_hook=fast)]
kernel = triton.autotune(configs, key=["n"])(fake_copy)

def plain_copy(x):
    y = torch.empty_like(x)
    kernel[(1,)](x, y, x.numel())
    return y
)";
}

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
