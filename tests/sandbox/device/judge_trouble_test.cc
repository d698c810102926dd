// Tests jobs whose judge ends or lacks device memory. The launchers run the fake driver, and the
// judges work on the CPU.
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <string>
#include <utility>

#include "sandbox/device/cuda.h"
#include "tests/catch.h"
#include "tests/sandbox/device/cuda_fixture.h"

using namespace assay;
using namespace assay::sandbox;
using namespace assay::sandbox::testing;

namespace {

/// A job of an operator whose inputs() executes the Python text of a file, if the file exists.
class ScriptedOperator {
 public:
  explicit ScriptedOperator(const std::string& name)
      : job_(copy_job(JobKind::test, kCopy)),
        script_(real_config().state_dir + "/" + name + ".py") {
    set("");
    const std::filesystem::path folder =
        copy_operator(name, "    exec(open('" + script_ + "').read())\n");
    job_.operator_name = name;
    job_.operator_dir = folder.string();
  }
  void set(const std::string& script) const { std::ofstream(script_) << script; }
  Job job() const {
    static int count = 0;
    Job job = job_;
    job.id += "_" + std::to_string(++count);
    return job;
  }

 private:
  Job job_;
  std::string script_;
};

const std::string kReadsAValue =  // cannot be recorded, so it runs on the host tier
    "import torch, triton\nimport triton.language as tl\n@triton.jit\n"
    "def copy(x, y, n, B: tl.constexpr):\n    i = tl.program_id(0) * B + tl.arange(0, B)\n"
    "    tl.store(y + i, tl.load(x + i, mask=i < n), mask=i < n)\n"
    "def plain_copy(x):\n    y = torch.empty_like(x)\n    if float(x[0]) < 1e9:\n"
    "        copy[(triton.cdiv(x.numel(), 256),)](x, y, x.numel(), B=256)\n    return y\n";

std::unique_ptr<Device> fake_gpu(const SandboxConfig& config) {
  Result<std::unique_ptr<Device>> made =
      make_cuda_device(config, {.index = 0, .driver = "fake", .judge_device = "cpu"});
  REQUIRE(made);
  return std::move(*made);
}

constexpr const char* kAbort = "import os; os.abort()";
constexpr const char* kSickContext =
    "import harness.judging.failures as failures\nfailures.context_is_lost = lambda device: True\n"
    "raise RuntimeError('CUDA error: an illegal memory access was encountered')";

}  // namespace

TEST_CASE("an operator that ends its judge gets a named error, and disturbs no other job") {
  SandboxConfig config = real_config();
  config.gpu_sharers = 2;
  const std::unique_ptr<Device> device = fake_gpu(config);
  const ScriptedOperator ending("ends_its_judge");
  JobMonitor quiet;
  REQUIRE(device->execute(ending.job(), quiet).outcome == Outcome::pass);
  // The other job has its inputs when its judge ends, and the judge has not compared the outputs.
  ending.set(kAbort);
  Verdict ended;
  bool launched = false;
  JobMonitor monitor;
  monitor.stage_changed = [&](Stage stage) {
    if (stage != Stage::launch || std::exchange(launched, true)) return;
    ended = device->execute(ending.job(), quiet);
  };
  const Verdict other = device->execute(copy_job(JobKind::test, kCopy), monitor);
  INFO(ended.summary << " " << ended.detail);
  CHECK(ended.error_kind == ErrorKind::reference_error);
  CHECK(ended.detail.find("SIGABRT") != std::string::npos);
  INFO(other.summary << " " << other.detail);
  CHECK(other.outcome == Outcome::pass);

  // A broken GPU context ends a judge too.
  ending.set(kSickContext);
  const Verdict sick = device->execute(ending.job(), quiet);
  INFO(sick.summary << " " << sick.detail);
  CHECK(sick.error_kind == ErrorKind::reference_error);
  CHECK(sick.detail.find("illegal memory access") != std::string::npos);
  ending.set("");
  CHECK(device->execute(ending.job(), quiet).outcome == Outcome::pass);
}

TEST_CASE("a judge without device memory makes kept launchers end, and its job runs again") {
  SandboxConfig config = real_config();
  config.parked_launchers = 1;
  const std::string pids = config.state_dir + "/judge_without_memory",
                    script = config.state_dir + "/judge_without_memory.sh";
  std::filesystem::remove(pids);
  std::ofstream(script) << "#!/bin/sh\necho $$ >> " << shell_word(pids) << "\nexec "
                        << shell_word(config.launcher) << " \"$@\"\n";
  std::filesystem::permissions(script, std::filesystem::perms::owner_all);
  config.launcher = script;
  const std::unique_ptr<Device> device = fake_gpu(config);
  const ScriptedOperator hungry("needs_memory");
  JobMonitor monitor;
  Job first = hungry.job();
  first.run = "run_first";  // its launcher, the first one that started, is kept
  REQUIRE(device->execute(first, monitor).outcome == Outcome::pass);
  hungry.set("import os, torch\nif os.path.exists('/proc/' + open('" + pids +
             "').readline().strip()):\n    raise torch.cuda.OutOfMemoryError('out of memory')");
  Job second = hungry.job();
  second.run = "run_second";
  const Verdict verdict = device->execute(second, monitor);
  INFO(verdict.summary << " " << verdict.detail);
  CHECK(verdict.outcome == Outcome::pass);

  hungry.set("import torch\nraise torch.cuda.OutOfMemoryError('out of memory')");
  const Verdict full = device->execute(hungry.job(), monitor);
  CHECK(full.error_kind == ErrorKind::internal_error);
  CHECK(full.detail.find("out of memory") != std::string::npos);
}

TEST_CASE("the judge of the host tier knows how much memory each candidate may use") {
  const SandboxConfig config = real_config();
  const std::unique_ptr<Device> device = fake_gpu(config);
  const ScriptedOperator noting("notes_the_memory");
  const std::string noted = config.state_dir + "/noted_memory";
  std::filesystem::remove(noted);
  noting.set(
      "from harness.judging import judge\n"
      "def note(self, frame, host_case=judge.Judge._host_case):\n"
      "    h = frame.header\n    open('" +
      noted +
      "', 'a').write(f\"{h['attribute']} {h['gpu_memory_bytes'] >> 20}\\n\")\n"
      "    return host_case(self, frame)\n"
      "if judge.Judge._host_case.__name__ != 'note':\n    judge.Judge._host_case = note");
  Job job = noting.job();
  job.source = kReadsAValue;
  job.limits.gpu_memory_bytes = 3LL << 30;
  JobMonitor monitor;
  const Verdict verdict = device->execute(job, monitor);
  INFO(verdict.summary << " " << verdict.detail);
  REQUIRE(verdict.outcome == Outcome::pass);
  std::ifstream in(noted);
  const std::string seen{std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
  // Two cases in the run, in the run that looks for the origin of the outputs, and in the run
  // without launches.
  CHECK(seen == "False 3072\nFalse 3072\nTrue 9216\nTrue 9216\nFalse 3072\nFalse 3072\n");
}

TEST_CASE("a submission on the host tier whose judge ends in a hidden case is judged again") {
  const SandboxConfig config = real_config();
  const std::unique_ptr<Device> device = fake_gpu(config);
  const ScriptedOperator ending("ends_in_a_hidden_case");
  const std::string ended = config.state_dir + "/ended_in_a_hidden_case";
  std::filesystem::remove(ended);
  ending.set(
      "import os\nfrom harness.judging import judge\n"
      "def end_once(self, frame, host_case=judge.Judge._host_case, os=os):\n"
      "    if frame.header['case'] != 'hidden1000' or os.path.exists('" +
      ended + "'):\n        return host_case(self, frame)\n    open('" + ended +
      "', 'w').close()\n    os.abort()\njudge.Judge._host_case = end_once");
  Job job = ending.job();
  job.kind = JobKind::grade;
  job.source = kReadsAValue;
  JobMonitor monitor;
  const Verdict verdict = device->execute(job, monitor);
  INFO(verdict.summary << " " << verdict.detail);
  CHECK(std::filesystem::exists(ended));
  CHECK(verdict.outcome == Outcome::pass);
  CHECK(verdict.tier == Tier::host);
  CHECK(verdict.tells_hidden);
}
