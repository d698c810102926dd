// Tests verdicts of recorded plans. The processes are real (zygote, candidate, judge). The launcher
// runs the fake driver, which performs memory operations, and kernels that it knows by name.
#include "sandbox/device/cuda.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "sandbox/device/make_device.h"
#include "sandbox/gpu/gpu_context.h"
#include "tests/catch.h"
#include "tests/sandbox/device/cuda_fixture.h"

using namespace assay;
using namespace assay::sandbox;
using namespace assay::sandbox::testing;

namespace {

/// Returns the artifacts' names as a set, because several candidates may compile the same kernel.
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
  // NVRTC compiles a real cubin. The fake device does not run the cubin, but knows by the kernel's
  // name what to compute.
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
  job.baseline_source = oracle();  // the oracle's source stays Python
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

  Job keeps = job;  // `kept` is reset before every sample
  keeps.source += "__device__ float kept;\n";
  CHECK(run(keeps).outcome == Outcome::pass);

  Job python = job;
  python.language = "python";
  CHECK(run(python).error_kind == ErrorKind::syntax_error);
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

  const std::string entry = "def plain_copy(x):\n";
  std::string fails = kCopy;
  fails.insert(fails.find(entry) + entry.size(),
               "    if x.numel() == 1000:\n        raise KeyError('a thousand')\n");
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
  CHECK(failed.diagnostic->line.value_or(0) == 7);
  CHECK(failed.tells_hidden);
  // The public case was launched and judged before the hidden case.
  REQUIRE(failed.cases.size() == 1);
  CHECK(failed.cases[0].outcome == Outcome::pass);
  REQUIRE_FALSE(heard.empty());  // the monitor got only the public case
  for (const auto& [done, total] : heard) CHECK(std::pair(done, total) == std::pair(done, done));
}

TEST_CASE("without a processor for each candidate one candidate records, unless the job is timed") {
  SandboxConfig config = real_config();
  config.recorders = 2;
  config.recorder_cores = 1;
  const Result<std::unique_ptr<Device>> made =
      make_cuda_device(config, {.index = 0, .driver = "fake", .judge_device = "cpu"});
  REQUIRE(made);
  const auto candidates = [&](JobKind kind) {
    // Each candidate prints another line, so its output is kept.
    const std::string prints = "import os\nprint('candidate', os.urandom(8).hex())\n";
    JobMonitor monitor;
    const Verdict verdict = (*made)->execute(copy_job(kind, prints + kCopy), monitor);
    INFO(verdict.summary << " " << verdict.detail << verdict.stderr_text);
    CHECK(verdict.outcome == Outcome::pass);
    return std::count(verdict.stdout_text.begin(), verdict.stdout_text.end(), '\n');
  };
  CHECK(candidates(JobKind::test) == 1);
  // Two candidates compile more configurations of an autotuner in their time than one.
  CHECK(candidates(JobKind::grade) == 2);
}

TEST_CASE("a candidate that records alone for want of processors has the time of both") {
  SandboxConfig config = real_config();
  config.recorders = 2;
  for (const int cores : {1, 2}) {
    config.recorder_cores = cores;
    const Result<std::unique_ptr<Device>> made =
        make_cuda_device(config, {.index = 0, .driver = "fake", .judge_device = "cpu"});
    REQUIRE(made);
    Job job = copy_job(JobKind::test, "import time\ndef plain_copy(x):\n    time.sleep(3600)\n");
    job.limits.run_wall_ms = 1'000;
    JobMonitor monitor;
    const Verdict verdict = (*made)->execute(job, monitor);
    CHECK(verdict.error_kind == ErrorKind::timeout);
    INFO(verdict.detail);
    // The candidate or the supervisor, whichever is first, names the limit.
    CHECK(verdict.detail.find(cores == 1 ? "2000 ms" : "1000 ms") != std::string::npos);
  }
}

TEST_CASE("a submission that is wrong on a public case gets no hidden one") {
  for (const int recorders : {1, 2}) {
    const Verdict verdict =
        run(copy_job(JobKind::grade,
                     "import torch\ndef plain_copy(x):\n    if x.numel() == 1000:\n        raise "
                     "KeyError('seen')\n    return torch.zeros_like(x)\n"),
            recorders);
    INFO(verdict.summary);
    CHECK(verdict.outcome == Outcome::fail);
    CHECK(verdict.error_kind == ErrorKind::wrong_result);
    CHECK(verdict.cases.size() == 1);
    CHECK_FALSE(verdict.tells_hidden);
  }
}

TEST_CASE(
    "kernels and hints of a grade are those of a public case, also where a hidden one is larger") {
  const std::string launch = "    fake_copy[(1,)](x, y, x.numel())\n";
  std::string source = kCopy;
  source.insert(source.find(launch),
                "    for _ in range(40 if x.numel() == 1000 else 0):\n    " + launch);
  const Verdict verdict = run(copy_job(JobKind::grade, source));
  INFO(verdict.summary << verdict.detail);
  REQUIRE(verdict.outcome == Outcome::pass);
  CHECK(verdict.tells_hidden);
  REQUIRE(verdict.kernels.size() == 1);
  CHECK(verdict.kernels[0].launches == 1);
  for (const Hint& hint : verdict.hints) CHECK(hint.kind != HintKind::many_launches);
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
  // Launchers that were started in advance have already passed the check of the device. Launchers
  // that are started now fail it.
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

TEST_CASE("a verdict says for how long its job had the GPU alone") {
  const std::string source = "# alone\n" + kCopy;
  CHECK_FALSE(run(copy_job(JobKind::test, source)).gpu_alone_ms);
  const Verdict graded = run(copy_job(JobKind::grade, source));
  REQUIRE(graded.outcome == Outcome::pass);
  REQUIRE(graded.gpu_alone_ms);
  CHECK(*graded.gpu_alone_ms > 0);
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
  const Verdict graded = run(copy_job(JobKind::grade, source));  // a grade has one more case
  CHECK(imported(graded));
  CHECK(graded.cases.size() == 2);
  CHECK_FALSE(imported(run(copy_job(JobKind::grade, source))));
  job.want_artifacts = true;
  CHECK(imported(run(job)));

  Job compiled = copy_job(JobKind::compile, "# compiled first\n" + kCopy);
  compiled.cases.resize(1);
  CHECK(imported(run(compiled)));
  Job tested = copy_job(JobKind::test, compiled.source);
  tested.cases.resize(1);
  CHECK_FALSE(imported(run(tested)));

  const Job loud = copy_job(JobKind::test, "print('loud')\n" + kCopy);
  CHECK(run(loud).stdout_text == "loud\n");
  CHECK(run(loud).stdout_text == "loud\n");
}

TEST_CASE("a submission that fails before it is recorded costs neither inputs nor the GPU") {
  // This operator fails if a judge makes its inputs. The harness can describe its cases without
  // inputs.
  const std::filesystem::path folder =
      copy_operator("without_inputs", "    assert case.device.type == 'meta', 'made inputs'\n");
  for (const auto& [source, kind] : std::map<std::string, ErrorKind>{
           {"def plain_copy(x:\n", ErrorKind::syntax_error},
           {"import nothing_like_this\n", ErrorKind::module_not_found},
           {"def plain_copy(x):\n    return x.nothing\n", ErrorKind::attribute_error},
           {kCopy, ErrorKind::internal_error}}) {
    Job job = copy_job(JobKind::test, source);
    job.operator_dir = folder.string();
    const Verdict verdict = run(job);
    INFO(verdict.detail);
    CHECK(verdict.error_kind == kind);
    CHECK(verdict.provenance.seeds.empty());
  }
}

TEST_CASE("values of an earlier job refuse a submission without new inputs, and never pass one") {
  // This operator's arguments depend on a value, so its cases cannot be described without inputs.
  const std::filesystem::path made =
      std::filesystem::path(ASSAY_BINARY_DIR) / "test-operators/inputs_made";
  std::filesystem::remove(made);
  const std::filesystem::path folder =
      copy_operator("by_value", "    float(rng.normal((1,)).sum())\n    open('" + made.string() +
                                    "', 'a').write('x')\n");
  const auto inputs_made = [&] {
    return std::filesystem::exists(made) ? std::filesystem::file_size(made) : 0;
  };
  const auto judged = [&](const std::string& source) {
    Job job = copy_job(JobKind::test, source);
    job.operator_dir = folder.string();
    return run(job);
  };
  const Verdict first = judged("# by value\n" + kCopy);
  INFO(first.detail);
  REQUIRE(first.outcome == Outcome::pass);
  const auto once = inputs_made();
  CHECK(once > 0);
  for (const auto& [source, kind] : std::map<std::string, ErrorKind>{
           {"def plain_copy(x:\n", ErrorKind::syntax_error},
           {"def plain_copy(x):\n    return x.nothing\n", ErrorKind::attribute_error}}) {
    const Verdict verdict = judged("print('seen')\n" + source);
    INFO(verdict.detail);
    CHECK(verdict.error_kind == kind);
    CHECK(verdict.diagnostic);
    CHECK(verdict.stdout_text == (kind == ErrorKind::syntax_error ? "" : "seen\n"));
    REQUIRE(verdict.provenance.seeds.size() == 1);  // the earlier job's public case
    CHECK(verdict.provenance.seeds.at("public64") == first.provenance.seeds.at("public64"));
  }
  CHECK(inputs_made() == once);
  const Verdict loud = judged("print('loud')\n" + kCopy);
  CHECK(loud.outcome == Outcome::pass);
  CHECK(loud.stdout_text == "loud\n");
  CHECK(loud.provenance.seeds.size() == loud.cases.size());
  CHECK(inputs_made() > once);
}
