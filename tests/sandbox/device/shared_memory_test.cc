// Compares verdicts of jobs whose inputs reach the launcher in device memory, in memory files, and
// in both. The device is fake.
#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "sandbox/job/verdict_builder.h"
#include "tests/catch.h"
#include "tests/sandbox/device/cuda_fixture.h"
#include "tests/sandbox/device/sharing_harness.h"

using namespace assay;
using namespace assay::sandbox;
using namespace assay::sandbox::testing;

namespace {

/// A fake GPU whose cases of at most `host_case_bytes` go through memory files.
class SharingGpu {
 public:
  SharingGpu(const std::string& name, std::int64_t host_case_bytes) : harness_(name) {
    SandboxConfig config = real_config();
    config.harness_dir = harness_.folder();
    config.host_case_bytes = host_case_bytes;
    config.parked_launchers = 1;
    Result<std::unique_ptr<Device>> made =
        make_cuda_device(config, {.index = 0, .driver = "fake", .judge_device = "cpu"});
    REQUIRE(made);
    device_ = std::move(*made);
  }
  Verdict execute(const Job& job) {
    JobMonitor monitor;
    return device_->execute(job, monitor);
  }
  std::vector<std::uint64_t> sizes() const { return harness_.sizes(); }

 private:
  SharingHarness harness_;
  std::unique_ptr<Device> device_;
};

/// The public cases of 64, 1000 and 4096 floats, and the hidden ones. A copy of 1000 floats has
/// 8,000 bytes of inputs and outputs.
Job six_cases(JobKind kind, const std::string& source) {
  Job job = copy_job(kind, source);
  job.input_seed = "the same inputs for all devices";
  const CaseRequest one = job.cases[0];
  job.cases.clear();
  for (const bool hidden : {false, true}) {
    for (const int n : {64, 1'000, 4'096}) {
      CaseRequest& added = job.cases.emplace_back(one);
      added.hidden = hidden;
      added.id = (hidden ? "hidden" : "public") + std::to_string(n);
      added.axes = {{"n", n}};
    }
  }
  return job;
}

/// Returns what a client and the server see of the cases: outcome, error, and each case's result.
std::string told(const Verdict& verdict) {
  std::string text = std::string(to_string(verdict.outcome)) + " " +
                     std::string(to_string(verdict.error_kind)) + " " + verdict.summary + " " +
                     verdict.detail;
  for (const CaseRecord& one : verdict.cases)
    text += "\n" + one.id + " " + std::string(to_string(one.outcome)) + " " + one.reason + " " +
            one.modified + " " + std::to_string(one.elements) + " " +
            std::to_string(one.mismatches);
  return text;
}

/// Copies, but a call with 4,096 elements launches `kernel` instead of fake_copy.
std::string otherwise(const std::string& kernel, const std::string& parameters,
                      const std::string& arguments) {
  return kImports + "@triton.jit\ndef fake_copy(x, y, n):\n    pass\n@triton.jit\ndef " + kernel +
         "(" + parameters + "):\n    pass\ndef plain_copy(x):\n    y = torch.empty_like(x)\n" +
         "    if x.numel() == 4096:\n        " + kernel + "[(1,)](" + arguments +
         ")\n    else:\n        fake_copy[(1,)](x, y, x.numel())\n    return y\n";
}

constexpr std::int64_t kSmallOnly = 10'000;  // 64 and 1000 floats go through files, 4096 do not

}  // namespace

TEST_CASE("verdicts are the same, whatever memory the inputs go through") {
  SharingGpu on_device("all-on-device", 0), mixed("mixed", kSmallOnly),
      in_files("all-in-files", 1 << 20);
  const std::vector<std::pair<ErrorKind, std::string>> sources = {
      {ErrorKind::none, kCopy},
      {ErrorKind::unattributed, kClone},
      {ErrorKind::wrong_result, otherwise("fake_nothing", "p", "y")},
      {ErrorKind::output_mismatch, otherwise("fake_copy_and_spoil", "x, y, n", "x, y, x.numel()")},
      {ErrorKind::invalid_plan, otherwise("fake_write_byte", "p, offset", "y, 20000")},
      {ErrorKind::gpu_fault, otherwise("fake_fault", "", "")},
      {ErrorKind::wrong_result, kImports + "def plain_copy(x):\n    return torch.zeros_like(x)\n"},
  };
  for (const auto& [kind, source] : sources) {
    INFO(source);
    const Job job = six_cases(JobKind::test, source);
    const Verdict verdict = on_device.execute(job);
    const std::string expected = told(verdict);
    INFO(expected);
    CHECK(verdict.error_kind == kind);
    CHECK(told(mixed.execute(job)) == expected);
    CHECK(told(in_files.execute(job)) == expected);
  }
  // The copy of 4096 floats has inputs and room for outputs in device memory; public and hidden.
  REQUIRE_FALSE(on_device.sizes().empty());
  REQUIRE(mixed.sizes().size() == on_device.sizes().size());
  for (std::size_t i = 0; i < mixed.sizes().size(); ++i)
    CHECK(mixed.sizes()[i] < on_device.sizes()[i]);
  CHECK(in_files.sizes().empty());
}

TEST_CASE("the cases of a grade that are timed get new inputs, and so they are in device memory") {
  SharingGpu gpu("graded", 1 << 20);
  Job job = six_cases(JobKind::grade, kCopy);
  job.baseline_source = kClone;
  const Verdict verdict = gpu.execute(job);
  INFO(told(verdict));
  REQUIRE(verdict.outcome == Outcome::pass);
  CHECK(gpu.sizes().size() == 1);
  for (const CaseRecord& one : verdict.cases) {
    INFO(one.id);
    const std::string& seeds = verdict.provenance.seeds.at(one.id);
    CHECK(one.latency.has_value() != one.id.ends_with("64"));
    // Each round of a timed case has a seed of its own.
    CHECK((seeds.find(',') != std::string::npos) == one.latency.has_value());
  }
  SharingGpu all_on_device("graded-on-device", 0);
  const Verdict before = all_on_device.execute(job);
  CHECK(before.outcome == Outcome::pass);
  REQUIRE(all_on_device.sizes().size() == 1);
  CHECK(gpu.sizes()[0] < all_on_device.sizes()[0]);
}

TEST_CASE("a grade judges what was timed, whatever memory the outputs are in") {
  SharingGpu on_device("timed-on-device", 0);
  Job job = six_cases(JobKind::grade, otherwise("fake_copy_once", "x, y, n", "x, y, x.numel()"));
  job.baseline_source = kClone;
  const Verdict verdict = on_device.execute(job);
  INFO(told(verdict));
  CHECK(verdict.outcome == Outcome::fail);
  CHECK(verdict.error_kind == ErrorKind::wrong_result);
  CHECK_FALSE(verdict.perf);
  const auto wrong = std::find_if(verdict.cases.begin(), verdict.cases.end(),
                                  [](const CaseRecord& one) { return one.id == "public4096"; });
  REQUIRE(wrong != verdict.cases.end());
  CHECK(wrong->reason.starts_with("right at first, wrong when it was timed"));
  CHECK_FALSE(wrong->latency);
}
