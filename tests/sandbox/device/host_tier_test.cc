// Tests submissions that cannot be recorded. They get access to the GPU inside their jail, unless
// the host tier is off.
#include <sys/resource.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <string>

#include "sandbox/device/cuda.h"
#include "tests/catch.h"
#include "tests/sandbox/device/cuda_fixture.h"

using namespace assay;
using namespace assay::sandbox;
using namespace assay::sandbox::testing;

namespace {

constexpr int kNiceness = 6;  // niceness of candidates without a GPU

// A submission that cannot be recorded, up to its last lines. `y` is a right output, which a kernel
// has made. `follows()` tells whether this run looks for the origin of the outputs.
const std::string kCopyOnHost =
    "import gc, os, torch, triton\nimport triton.language as tl\n@triton.jit\n"
    "def copy(x, y, n, B: tl.constexpr):\n    i = tl.program_id(0) * B + tl.arange(0, B)\n"
    "    tl.store(y + i, tl.load(x + i, mask=i < n), mask=i < n)\n"
    "def follows():\n    return any(type(o).__name__ == 'Shadows' for o in gc.get_objects())\n"
    "def plain_copy(x):\n    y = torch.empty_like(x)\n    float(x[0])\n"
    "    copy[(triton.cdiv(x.numel(), 256),)](x, y, x.numel(), B=256)\n";

}  // namespace

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
  CHECK(verdict.gpu_alone_ms.value_or(0) > 0);
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
  CHECK(wrong.cases.size() == 1);  // the public case is wrong, so the hidden case was not sent
  CHECK_FALSE(wrong.tells_hidden);
  CHECK_FALSE(wrong.cases[0].latency);
}

TEST_CASE("on the host tier right outputs that need no kernel of the submission are unattributed") {
  const Verdict verdict =
      run(copy_job(JobKind::test,
                   "import torch\ndef plain_copy(x):\n    return torch.sort(x).values * 0 + x\n"));
  INFO(verdict.summary << verdict.detail);
  CHECK(verdict.tier == Tier::host);
  CHECK(verdict.error_kind == ErrorKind::unattributed);
  CHECK(verdict.cases[0].reason.find("when none of the submission's kernels run") !=
        std::string::npos);
}

TEST_CASE("on the host tier a submission that ends the run that looks for the origin fails") {
  // A submission can recognise this run, because the code that follows its kernels is in its
  // process.
  const auto seen = [](const std::string& then) {
    return run(copy_job(JobKind::test,
                        kCopyOnHost + "    if follows():\n        " + then + "\n    return y\n"));
  };
  const Verdict raised = seen("raise KeyError('no')");
  INFO(raised.summary << raised.detail);
  CHECK(raised.error_kind == ErrorKind::unattributed);
  CHECK(raised.outcome == Outcome::fail);
  CHECK(raised.cases[0].reason.find("ended instead of returning: key_error") != std::string::npos);
  CHECK(raised.cases[0].outcome == Outcome::fail);
  CHECK(seen("os._exit(0)").error_kind == ErrorKind::unattributed);
  CHECK(seen("return y[:1]").error_kind == ErrorKind::unattributed);
  const Verdict other = seen("return y * 2");
  CHECK(other.error_kind == ErrorKind::wrong_result);
  CHECK(other.cases[0].reason.starts_with("right at first, wrong when it ran once more"));
  CHECK(seen("pass").outcome == Outcome::pass);
}

TEST_CASE("on the host tier a hidden case without evidence does not fail the public cases") {
  Job job = copy_job(JobKind::grade, kCopyOnHost +
                                         "    if follows() and x.numel() == 1000:\n"
                                         "        raise KeyError('no')\n    return y\n");
  const Verdict verdict = run(job);
  INFO(verdict.summary << verdict.detail);
  REQUIRE(verdict.cases.size() == 2);
  CHECK(verdict.error_kind == ErrorKind::unattributed);
  CHECK(verdict.cases[0].outcome == Outcome::pass);
  CHECK(verdict.cases[1].outcome == Outcome::fail);
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
  // A judge without a GPU has no evidence that others took the memory.
  CHECK(kind_of("    raise torch.OutOfMemoryError\n") == ErrorKind::gpu_memory_limit);
  // A round must end when the function returns. This submission sends the byte that ends a round
  // earlier, from inside of its function.
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

TEST_CASE("an operator of family layout has no host tier") {
  const std::filesystem::path folder = copy_operator("layout_without_host_tier", "");
  std::string spec = kSpec;
  const std::string family = "family = \"elementwise\"";
  spec.replace(spec.find(family), family.size(), "family = \"layout\"");
  std::ifstream written(folder / "spec.toml");
  const std::string whole{std::istreambuf_iterator<char>(written), {}};
  std::ofstream(folder / "spec.toml") << spec << whole.substr(whole.find("\n[[cases]]"));
  Job job = copy_job(JobKind::test, kCopyOnHost + "    return y\n");
  job.operator_dir = folder.string();
  const Verdict verdict = run(job);
  INFO(verdict.summary << verdict.detail);
  CHECK(verdict.error_kind == ErrorKind::not_recordable);
  CHECK(verdict.detail.find("family layout has no host tier") != std::string::npos);
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

TEST_CASE("on the host tier convolutions of torch are as exact as those of the judge's reference") {
  const Verdict verdict =
      run(copy_job(JobKind::test,
                   "import torch\ndef plain_copy(x):\n    tells = torch.sort(x).values * 0 + x\n"
                   "    print('TF32', torch.backends.cudnn.allow_tf32)\n    return tells\n"));
  CHECK(verdict.tier == Tier::host);
  CHECK(verdict.stdout_text.starts_with("TF32 False\n"));
  CHECK(verdict.stdout_text.find("True") == std::string::npos);  // nor in the run without kernels
}
