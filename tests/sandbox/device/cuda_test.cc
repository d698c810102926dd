// The plan tier through real processes (zygote, candidate, judge) and the launcher's fake driver:
// memory operations are performed, kernels only by name.
#include "sandbox/device/cuda.h"

#include <sys/resource.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <filesystem>
#include <fstream>
#include <future>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "base/handle.h"
#include "sandbox/device/make_device.h"
#include "tests/catch.h"
#include "tests/sandbox/device/cuda_fixture.h"

using namespace assay;
using namespace assay::sandbox;
using namespace assay::sandbox::testing;

namespace {

namespace fs = std::filesystem;

constexpr int kNiceness = 6;  // of candidates without the GPU

/// Returns the artifacts as a set, because several candidates may compile the same kernel.
std::set<std::string> names_of(const std::vector<Artifact>& artifacts) {
  std::set<std::string> names;
  for (const Artifact& one : artifacts) names.insert(one.kind + " " + one.name);
  return names;
}

std::string kernel(const std::string& name) {
  return "import torch, triton\nimport triton.language as tl\n@triton.jit\ndef " + name +
         "(x, n):\n    tl.store(x + n, 1.0)\ndef plain_copy(x):\n    y = torch.empty_like(x)\n   "
         " " +
         name + "[(1,)](y, 0)\n    return y\n";
}

}  // namespace

TEST_CASE("a recorded plan is launched and judged") {
  const Verdict verdict = run(copy_job(JobKind::test, kCopy));
  INFO(verdict.summary << " " << verdict.detail << verdict.stderr_text);
  REQUIRE(verdict.outcome == Outcome::pass);
  CHECK(verdict.tier == Tier::plan);
  CHECK(verdict.cases.size() == 2);
  CHECK_FALSE(verdict.perf);
  CHECK(verdict.provenance.device_name == "Fake GPU");
}

TEST_CASE(
    "outputs that copies of a plan made are unattributed, and a plan that writes to an input is "
    "wrong") {
  const Verdict clone = run(copy_job(JobKind::test, kClone));
  CHECK(clone.outcome == Outcome::fail);
  CHECK(clone.error_kind == ErrorKind::unattributed);
  CHECK(clone.cases[0].reason.find("none of the submission's kernels run") != std::string::npos);
  const Verdict spoilt = run(copy_job(JobKind::test, copying("fake_copy_and_spoil")));
  INFO(spoilt.summary << " " << spoilt.detail << spoilt.stderr_text);
  CHECK(spoilt.outcome == Outcome::fail);
  CHECK(spoilt.error_kind == ErrorKind::output_mismatch);
  CHECK(spoilt.cases[0].reason ==
        "argument x was modified; the operator's spec has it as an input");
}

TEST_CASE("CUDA C++ is compiled, launched and judged like any other plan") {
  // The fake device performs the kernel by its name; NVRTC makes a real cubin.
  const std::string source = R"cuda(/* assay
[[launch]]
kernel = "fake_vector_add"
grid = "ceil_div(n, 256)"
block = 256
args = ["x", "y", "z", "n"]
*/
extern "C" __global__ void fake_vector_add(const float* x, const float* y, float* z, int n) {
  const int i = blockIdx.x * 256 + threadIdx.x;
  if (i < n) z[i] = x[i] + y[i];
}
)cuda";
  Job job = vector_add(JobKind::grade, source);
  job.language = "cuda";
  job.baseline_source = oracle();  // stays Python
  job.cases.erase(job.cases.begin() + 1);
  for (int round = 0; round < 2; ++round) {  // the second round uses the cache
    const Verdict verdict = run(job, 2);
    INFO(verdict.summary << " " << verdict.detail << verdict.stderr_text);
    REQUIRE(verdict.outcome == Outcome::pass);
    CHECK(verdict.language == "cuda");
    CHECK(verdict.tier == Tier::plan);
    REQUIRE(verdict.kernels.size() == 1);
    CHECK(verdict.kernels[0].name == "fake_vector_add");
    CHECK(verdict.kernels[0].registers > 0);
    REQUIRE(verdict.cases.size() == 2);
    CHECK(verdict.cases[1].latency);
    CHECK_FALSE(verdict.provenance.nvrtc.empty());
  }

  Job wrong = job;
  wrong.kind = JobKind::test;
  wrong.source.replace(wrong.source.find("\"y\", \"z\""), 8, "\"x\", \"z\"");
  CHECK(run(wrong).error_kind == ErrorKind::wrong_result);

  Job keeps = job;  // device variables are reset for every sample
  keeps.source += "__device__ float kept;\n";
  CHECK(run(keeps).outcome == Outcome::pass);

  Job python = job;
  python.language = "python";
  CHECK(run(python).error_kind == ErrorKind::syntax_error);
}

TEST_CASE("a grade times its large cases together with the oracle") {
  Job job = copy_job(JobKind::grade, kCopy);
  job.baseline_source = kClone;
  for (int round = 0; round < 2; ++round) {  // the second round uses the cache
    const Verdict verdict = run(job);
    INFO(verdict.summary << " " << verdict.detail << verdict.stderr_text);
    for (const Hint& hint : verdict.hints) UNSCOPED_INFO(hint.text);
    REQUIRE(verdict.outcome == Outcome::pass);
    REQUIRE(verdict.perf);
    CHECK(*verdict.perf > 0);
    CHECK_FALSE(verdict.cases[0].latency);  // its traffic is a fifteenth of the other case's
    const CaseRecord& timed = verdict.cases[1];
    REQUIRE(timed.latency);
    REQUIRE(timed.timeline.size() == 1);
    CHECK(timed.timeline[0].name == "fake_copy");
    CHECK(timed.own_share == 1.0);
    CHECK(timed.deterministic == true);
    CHECK(timed.latency->samples_ns.size() >= 30);
    CHECK(timed.baseline_latency);
    CHECK(timed.pytorch_ns);
    CHECK(timed.floor_ns);
  }
}

TEST_CASE(
    "a profile reuses known times, and a grade reuses only PyTorch's time from another grade") {
  Job job = copy_job(JobKind::profile, kCopy);
  job.cases = {job.cases.back()};
  job.cases[0].axes["n"] = 3'000;  // so that no other test has timed this case
  job.baseline_source = kClone;
  double pytorch_ns = 0;
  const auto oracle_age = [&](JobKind kind) {
    job.kind = kind;
    const Verdict verdict = run(job);
    INFO(verdict.summary << " " << verdict.detail << verdict.stderr_text);
    for (const Hint& hint : verdict.hints) UNSCOPED_INFO(hint.text);
    REQUIRE(verdict.outcome == Outcome::pass);
    REQUIRE(verdict.cases[0].latency);
    CHECK(verdict.cases[0].latency->age_ms == 0);
    REQUIRE(verdict.cases[0].baseline_latency);
    // A measured time, so it is never the same twice.
    pytorch_ns = verdict.cases[0].pytorch_ns.value_or(0);
    CHECK(pytorch_ns > 0);
    return verdict.cases[0].baseline_latency->age_ms;
  };
  CHECK(oracle_age(JobKind::profile) == 0);
  const double profiled_ns = pytorch_ns;
  CHECK(oracle_age(JobKind::profile) > 0);
  CHECK(pytorch_ns == profiled_ns);
  CHECK(oracle_age(JobKind::grade) == 0);
  const double graded_ns = pytorch_ns;
  CHECK(graded_ns != profiled_ns);
  CHECK(oracle_age(JobKind::profile) > 0);  // measured by the grade
  CHECK(pytorch_ns == graded_ns);
  CHECK(oracle_age(JobKind::grade) == 0);
  CHECK(pytorch_ns == graded_ns);
}

TEST_CASE("a submission gets the same verdict from one recording candidate and from several") {
  Job job = copy_job(JobKind::test, "print('hello')\n" + kCopy + "print('ready')\n");
  job.want_artifacts = true;
  const Verdict one = run(job), two = run(job, 2);
  INFO(two.summary << " " << two.detail << two.stderr_text);
  REQUIRE(two.outcome == Outcome::pass);
  REQUIRE(two.cases.size() == 2);
  CHECK(two.cases[0].id == "public64");
  CHECK(two.cases[1].id == "hidden1000");
  CHECK(two.stdout_text == one.stdout_text);
  CHECK(names_of(two.artifacts) == names_of(one.artifacts));
  CHECK(two.kernels.size() == one.kernels.size());

  const std::string fails =
      "def plain_copy(x):\n    if x.numel() == 1000:\n        raise KeyError('a thousand')\n    "
      "return x.clone()\n";
  std::vector<std::pair<std::int64_t, std::int64_t>> heard;
  JobMonitor monitor;
  monitor.case_done = [&](std::int64_t done, std::int64_t total) {
    heard.emplace_back(done, total);
  };
  const Verdict failed = gpu(2).execute(copy_job(JobKind::test, fails), monitor);
  CHECK(failed.error_kind == ErrorKind::key_error);
  CHECK(failed.stage == Stage::record);
  CHECK(failed.detail.find("hidden1000") != std::string::npos);
  REQUIRE(failed.diagnostic);
  CHECK(failed.diagnostic->line.value_or(0) == 3);
  REQUIRE(heard.size() == 1);
  CHECK(heard[0] == std::pair<std::int64_t, std::int64_t>(1, 2));
}

TEST_CASE("a wrong answer fails and is not timed") {
  const Verdict verdict = run(copy_job(
      JobKind::grade, "import torch\ndef plain_copy(x):\n    return torch.zeros_like(x)\n"));
  INFO(verdict.summary);
  CHECK(verdict.outcome == Outcome::fail);
  CHECK(verdict.error_kind == ErrorKind::wrong_result);
  CHECK_FALSE(verdict.cases[0].latency);
}

TEST_CASE("a plan of copies alone is unattributed, although its outputs are right") {
  const Verdict verdict =
      run(copy_job(JobKind::grade, "def plain_copy(x):\n    return x.clone()\n"));
  INFO(verdict.summary);
  CHECK(verdict.outcome == Outcome::fail);
  CHECK(verdict.error_kind == ErrorKind::unattributed);
  REQUIRE_FALSE(verdict.cases.empty());
  CHECK(verdict.cases[0].reason.find("no kernel") != std::string::npos);
  CHECK_FALSE(verdict.perf);
  CHECK_FALSE(verdict.cases[0].latency);
}

TEST_CASE(
    "a submission that cannot be recorded gets the GPU inside the jail, and the verdict has the "
    "reason") {
  const std::string kernel =
      "import torch, triton\nimport triton.language as tl\n@triton.jit\ndef copy(x, y, n, B: "
      "tl.constexpr):\n    i = tl.program_id(0) * B + tl.arange(0, B)\n"
      "    tl.store(y + i, tl.load(x + i, mask=i < n), mask=i < n)\n";
  const std::string reads = kernel +
                            "def plain_copy(x):\n    y = torch.empty_like(x)\n    if float(x[0]) < "
                            "1e9:\n        copy[(triton.cdiv(x.numel(), 256),)](x, y, "
                            "x.numel(), B=256)\n    return y\n";
  Job job = copy_job(JobKind::grade, "print('hello')\n" + reads);
  job.baseline_source = kCopy;
  const Verdict verdict = run(job);
  INFO(verdict.summary << verdict.detail << verdict.stderr_text);
  REQUIRE(verdict.outcome == Outcome::pass);
  CHECK(verdict.tier == Tier::host);
  CHECK(verdict.tier_reason.find("could not be recorded") != std::string::npos);
  CHECK(verdict.tier_reason.find("line 10") != std::string::npos);
  CHECK_FALSE(verdict.diagnostic);
  REQUIRE(verdict.cases.size() == 2);
  REQUIRE(verdict.cases[1].latency);
  CHECK(verdict.cases[1].id == "hidden1000");
  CHECK(verdict.cases[1].latency->samples_ns.size() == 12);
  CHECK(verdict.cases[1].latency->low_ns <= verdict.cases[1].latency->median_ns);
  CHECK(verdict.cases[1].pytorch_ns);
  REQUIRE(verdict.perf);

  CHECK(verdict.hints.empty());

  const Verdict wrong = run(copy_job(
      JobKind::grade,
      "import torch\ndef plain_copy(x):\n    return x * (2 if float(x[0]) < 1e9 else 1)\n"));
  CHECK(wrong.error_kind == ErrorKind::wrong_result);
  CHECK(wrong.tier == Tier::host);
  CHECK(wrong.cases.size() == 2);
  CHECK_FALSE(wrong.cases[0].latency);
}

TEST_CASE("on the host tier right outputs that need no kernel of the submission are unattributed") {
  const Verdict verdict =
      run(copy_job(JobKind::test,
                   "import torch\ndef plain_copy(x):\n    return torch.sort(x).values * 0 + x\n"));
  INFO(verdict.summary << verdict.detail);
  CHECK(verdict.tier == Tier::host);
  CHECK(verdict.error_kind == ErrorKind::unattributed);
  CHECK(verdict.cases[0].reason.find("right as well") != std::string::npos);
}

TEST_CASE(
    "on the host tier the verdict has the submission's own error, and not its effect on the "
    "judge") {
  const auto kind_of = [](const std::string& then) {
    const Verdict verdict = run(
        copy_job(JobKind::test,
                 "import os, socket, time, torch\ndef plain_copy(x):\n    float(x[0])\n" + then));
    INFO(verdict.summary);
    CHECK(verdict.tier == Tier::host);
    return verdict.error_kind;
  };
  CHECK(kind_of("    raise KeyError('no')\n") == ErrorKind::key_error);
  CHECK(kind_of("    os._exit(0)\n") == ErrorKind::protocol_error);
  CHECK(kind_of("    os.kill(os.getpid(), 9)\n    os.abort()\n") == ErrorKind::crash);
  CHECK(kind_of("    return x.double()\n") == ErrorKind::output_mismatch);
  // The submission itself reports that a round is done, before it returns.
  const std::string says =
      "    for fd in range(3, 64):\n        try:\n            os.write(fd, b'D')\n        except "
      "OSError:\n            pass\n";
  CHECK(kind_of(says + "    time.sleep(0.5)\n    return x.clone()\n") == ErrorKind::protocol_error);
  CHECK(run(copy_job(JobKind::test, kCopy)).outcome == Outcome::pass);
}

TEST_CASE(
    "without the host tier a submission that cannot be recorded is an error that names operation "
    "and line") {
  SandboxConfig config = real_config();
  config.host_tier = false;
  Result<std::unique_ptr<Device>> device =
      make_cuda_device(config, {.index = 0, .driver = "fake", .judge_device = "cpu"});
  REQUIRE(device);
  JobMonitor monitor;
  const Verdict verdict = (*device)->execute(
      copy_job(JobKind::test,
               "import torch\ndef plain_copy(x):\n    return torch.sort(x).values\n"),
      monitor);
  INFO(verdict.summary << verdict.detail);
  CHECK(verdict.error_kind == ErrorKind::not_recordable);
  CHECK(verdict.detail.find("sort") != std::string::npos);
  REQUIRE(verdict.diagnostic);
  CHECK(verdict.diagnostic->line.value_or(0) == 3);
}

TEST_CASE("a refused launch is an error of the submission, and the next job runs") {
  const Verdict verdict = run(copy_job(JobKind::test, kernel("fake_illegal_address")));
  INFO(verdict.summary << verdict.detail);
  CHECK(verdict.error_kind == ErrorKind::invalid_plan);
  CHECK(verdict.stage == Stage::launch);
  CHECK(run(copy_job(JobKind::test, kCopy)).outcome == Outcome::pass);
}

TEST_CASE("a device that fails its check is unhealthy, and runs jobs again once it passes") {
  const SickSwitch sick("device");
  Result<std::unique_ptr<Device>> device =
      make_cuda_device(sick.config(), {.index = 0, .driver = "fake", .judge_device = "cpu"});
  REQUIRE(device);
  const auto execute = [&](const std::string& source) {
    JobMonitor monitor;
    return (*device)->execute(copy_job(JobKind::test, source), monitor);
  };
  const Verdict well = execute(kCopy);
  INFO(well.summary << " " << well.detail);
  REQUIRE(well.outcome == Outcome::pass);
  sick.set(true);
  // The parked launchers passed their check. The launchers that replace them fail it.
  Verdict refused = execute(kCopy);
  for (int i = 0; i < 8 && refused.error_kind != ErrorKind::device_unhealthy; ++i)
    refused = execute(kCopy);
  INFO(refused.summary);
  CHECK(refused.error_kind == ErrorKind::device_unhealthy);
  CHECK(refused.detail.find("the device fails its check") != std::string::npos);
  sick.set(false);
  CHECK(execute(kCopy).outcome == Outcome::pass);
}

TEST_CASE("a missing GPU is an error with the reason") {
  SandboxConfig config = real_config();
  config.launcher = "/does/not/exist";
  const auto made = make_cuda_device(config, {});
  REQUIRE_FALSE(made);
  CHECK(made.error().code == ErrorCode::unavailable);
  CHECK_FALSE(make_device("cuda:x", real_config()));
  CHECK(make_device("tpu", real_config()).error().message.find("valid: cpu, cuda:N") !=
        std::string::npos);
}

TEST_CASE(
    "a candidate that compiles yields the processors, and a candidate with the GPU does not") {
  const int own = ::getpriority(PRIO_PROCESS, 0);
  const std::string tell = "import os\nprint(os.getpriority(os.PRIO_PROCESS, 0))\n";
  const std::string compiling = std::to_string(std::max(own, kNiceness)) + "\n",
                    with_gpu = std::to_string(own) + "\n";
  CHECK(run(copy_job(JobKind::test, tell + kCopy)).stdout_text == compiling);
  const Verdict host = run(copy_job(
      JobKind::test,
      tell + "import torch\ndef plain_copy(x):\n    return torch.sort(x).values * 0 + x\n"));
  CHECK(host.tier == Tier::host);
  CHECK(host.stdout_text == compiling + with_gpu);
}

TEST_CASE("the same source is recorded once, unless it prints or its artifacts are wanted") {
  const auto imported = [](const Verdict& verdict) {
    REQUIRE(verdict.outcome == Outcome::pass);
    return verdict.stage_ms.count("import") > 0;
  };
  const std::string source = "# recorded once\n" + kCopy;
  Job job = copy_job(JobKind::test, source);
  job.cases.resize(1);
  CHECK(imported(run(job)));
  CHECK_FALSE(imported(run(job)));
  const Verdict graded = run(copy_job(JobKind::grade, source));  // has another case
  CHECK(imported(graded));
  CHECK(graded.cases.size() == 2);
  CHECK_FALSE(imported(run(copy_job(JobKind::grade, source))));
  job.want_artifacts = true;
  CHECK(imported(run(job)));

  const Job loud = copy_job(JobKind::test, "print('loud')\n" + kCopy);
  CHECK(run(loud).stdout_text == "loud\n");
  CHECK(run(loud).stdout_text == "loud\n");
}

namespace {

/// Returns the plans of the public cases, by case.
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
