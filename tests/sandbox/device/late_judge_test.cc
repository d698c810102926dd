// Tests operators whose code takes longer than a judge may work for one request: an error of their
// own, which names the case and the limit. The GPU has the fake driver and a judge on the CPU.
#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "sandbox/device/cpu.h"
#include "sandbox/device/cuda.h"
#include "tests/catch.h"
#include "tests/sandbox/device/cpu_fixture.h"

using namespace assay;
using namespace assay::sandbox;
using namespace assay::sandbox::testing;

namespace {

constexpr std::int64_t kJudgeMs = 4'000;
// As in most imported operators, a description of a case depends on values of inputs.
const std::string kReadsValue = "float(rng.normal((1,), case.dtype)[0])\n    ";

/// Returns code that never ends for this case.
std::string endless(const std::string& id) {
  return "import threading\n    if case.id == '" + id + "': threading.Event().wait()";
}

/// Returns a test job of a copy of vector_add whose inputs() also runs `code`.
Job late_job(const std::string& name, const std::string& code) {
  Job job = own_operator(name, code);
  job.source = kGood;
  job.limits.judge_wall_ms = kJudgeMs;
  return job;
}

void check_late(Device& device, const Job& job, const std::string& where) {
  JobMonitor monitor;
  const Verdict verdict = device.execute(job, monitor);
  INFO(verdict.summary << "\n" << verdict.detail);
  CHECK(verdict.error_kind == ErrorKind::reference_error);
  CHECK(verdict.stage == Stage::judge);
  CHECK(verdict.detail.find(where) != std::string::npos);
  CHECK(verdict.detail.find("longer than 4000 ms (judge_wall_ms, option --judge-wall-ms)") !=
        std::string::npos);
  CHECK(verdict.cases.empty());
}

std::unique_ptr<Device> fake_gpu() {
  Result<std::unique_ptr<Device>> made =
      make_cuda_device(real_config(), {.index = 0, .driver = "fake", .judge_device = "cpu"});
  REQUIRE(made);
  return std::move(*made);
}

}  // namespace

TEST_CASE("without a GPU, a large case that takes too long to describe is the operator's error") {
  check_late(cpu(), late_job("large_case_hangs", kReadsValue + endless("large")),
             "describing cases: the judge did not answer: its work on case 'large'");
  CHECK(run_on_cpu(test_job(kGood)).outcome == Outcome::pass);
}

TEST_CASE("without a GPU, inputs that take too long to make are the operator's error") {
  check_late(cpu(), late_job("hidden_case_hangs", endless("hidden_small")),
             "preparing inputs: the judge did not answer: its work on a hidden case");
}

TEST_CASE("on a GPU, a case that takes too long is the same error of the operator") {
  const std::unique_ptr<Device> device = fake_gpu();
  check_late(*device, late_job("large_case_hangs_gpu", kReadsValue + endless("large")),
             "preparing inputs: the judge did not answer: its work on case 'large'");
}
