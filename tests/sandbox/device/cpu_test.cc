#include "sandbox/device/cpu.h"

#include <algorithm>
#include <chrono>
#include <map>
#include <thread>

#include "tests/catch.h"
#include "tests/sandbox/device/device_fixture.h"

using namespace assay;
using namespace assay::sandbox;
using namespace assay::sandbox::testing;

namespace {

Device& cpu() {
  static const std::unique_ptr<Device> device = make_cpu_device(real_config());
  return *device;
}

Verdict run_on_cpu(const Job& job) {
  JobMonitor monitor;
  Verdict verdict = cpu().execute(job, monitor);
  INFO(verdict.summary << "\nstderr: " << verdict.stderr_text);
  CHECK(verdict.outcome == verdict.outcome);
  return verdict;
}

Job test_job(const std::string& source) {
  Job job = vector_add(JobKind::test, source);
  job.limits.import_wall_ms = 4'000;
  job.limits.run_wall_ms = 4'000;
  return job;
}

struct Bad {
  const char* name;
  const char* source;
  Outcome outcome;
  ErrorKind kind;
  Stage stage;
};

const std::string kGood = R"(import torch, triton, triton.language as tl
@triton.jit
def add(x, y, z, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(z + i, tl.load(x + i, mask=i < n) + tl.load(y + i, mask=i < n), mask=i < n)
def vector_add(x, y):
    z = torch.empty_like(x)
    add[(triton.cdiv(x.numel(), 512),)](x, y, z, x.numel(), BLOCK=512)
    return z
)";

const Bad kBad[] = {
    {"zeros", "import torch\ndef vector_add(x, y):\n    return torch.zeros_like(x)\n",
     Outcome::fail, ErrorKind::wrong_result, Stage::done},
    {"prints pass", "print('pass')\nprint('{\"ok\": true}')\ndef vector_add(x, y):\n    return x\n",
     Outcome::fail, ErrorKind::wrong_result, Stage::done},
    {"exits at import", "import os\nos._exit(0)\n", Outcome::error, ErrorKind::protocol_error,
     Stage::import},
    {"exits when called", "import os\ndef vector_add(x, y):\n    os._exit(0)\n", Outcome::error,
     ErrorKind::protocol_error, Stage::run},
    {"loops at import", "while True: pass\n", Outcome::error, ErrorKind::timeout, Stage::import},
    {"loops when called", "def vector_add(x, y):\n    while True: pass\n", Outcome::error,
     ErrorKind::timeout, Stage::run},
    {"raises", "def vector_add(x, y):\n    raise ValueError('no')\n", Outcome::error,
     ErrorKind::value_error, Stage::run},
    {"does not parse", "def vector_add(x, y)\n    return x\n", Outcome::error,
     ErrorKind::syntax_error, Stage::import},
    {"has no entry", "def add(x, y):\n    return x\n", Outcome::error, ErrorKind::missing_entry,
     Stage::import},
    {"wrong shape", "def vector_add(x, y):\n    return (x + y)[:-1]\n", Outcome::fail,
     ErrorKind::output_mismatch, Stage::done},
    {"wrong dtype", "def vector_add(x, y):\n    return (x + y).double()\n", Outcome::fail,
     ErrorKind::output_mismatch, Stage::done},
    {"lets torch add", "def vector_add(x, y):\n    return x + y\n", Outcome::error,
     ErrorKind::not_recordable, Stage::run},
    {"lets numpy add",
     "import ctypes, numpy as np, torch\ndef at(t): return np.ctypeslib.as_array((ctypes.c_float * "
     "t.numel()).from_address(t.data_ptr()))\n"
     "def vector_add(x, y):\n    z = torch.zeros_like(x)\n    at(z)[:] = at(x) + at(y)\n    return "
     "z\n",
     Outcome::fail, ErrorKind::unattributed, Stage::done},
    {"dies of a signal",
     "import os, signal\ndef vector_add(x, y):\n    import ctypes\n    ctypes.string_at(0)\n",
     Outcome::error, ErrorKind::crash, Stage::run},
    {"memory hog",
     "def vector_add(x, y):\n    hog = []\n    while True: hog.append(bytearray(1 << 26))\n",
     Outcome::error, ErrorKind::memory_limit, Stage::run},
    {"fork bomb", "import os\ndef vector_add(x, y):\n    while True: os.fork()\n", Outcome::error,
     ErrorKind::process_limit, Stage::run},
    {"thread bomb",
     "import threading, time\ndef vector_add(x, y):\n    for _ in range(1000): "
     "threading.Thread(target=time.sleep, args=(99,)).start()\n",
     Outcome::error, ErrorKind::process_limit, Stage::run},
    {"floods stdout", "def vector_add(x, y):\n    while True: print('x' * 65536)\n", Outcome::error,
     ErrorKind::output_limit, Stage::run},
    {"fills the disk",
     "def vector_add(x, y):\n    for i in range(9):\n        open(f'/tmp/{i}', 'wb').write(b'x' * "
     "(1 << 26))\n    return x\n",
     Outcome::error, ErrorKind::disk_limit, Stage::run},
    {"forges a result", R"(import os, socket
def vector_add(x, y):
    for fd in range(3, 64):
        try:
            os.write(fd, b'ASY1\x0f\0\0\0\0\0\0\0\0\0\0\0{"type":"done"}')
        except OSError:
            pass
    return x
)",
     Outcome::error, ErrorKind::protocol_error, Stage::run},
};

}  // namespace

TEST_CASE("the oracle and a plain submission pass on the CPU") {
  const Verdict verdict = run_on_cpu(test_job(oracle()));
  INFO(verdict.summary << verdict.stderr_text);
  REQUIRE(verdict.outcome == Outcome::pass);
  CHECK(verdict.tier == Tier::interpreter);
  REQUIRE(verdict.cases.size() == 2);
  CHECK(verdict.cases[0].id == "small");
  CHECK(verdict.cases[0].elements == 4097);
  CHECK(verdict.cases[1].hidden);
  CHECK(verdict.skipped_cases ==
        std::vector<SkippedCases>{
            {{"large"}, 0, SkipReason::too_large, "too large for the interpreter"}});
  CHECK(verdict.provenance.seeds.size() == 2);
  CHECK_FALSE(verdict.provenance.torch.empty());
  CHECK_FALSE(verdict.perf);
  CHECK(run_on_cpu(test_job(kGood)).outcome == Outcome::pass);
}

TEST_CASE("a skipped case has its reason") {
  Job job = test_job(kGood);
  job.cases[1].dtype = "bfloat16";
  CHECK(run_on_cpu(job).skipped_cases ==
        std::vector<SkippedCases>{
            {{"large"}, 0, SkipReason::dtype, "bfloat16, which the interpreter cannot run"}});
}

TEST_CASE("the verdict names the fault of a bad submission, and the next submission runs") {
  std::map<std::string, double> times;
  for (const Bad& bad : kBad) {
    Job job = test_job(bad.source);
    job.limits.memory_bytes = 1LL << 30;
    if (std::string(bad.name) != "memory hog") job.limits = test_job("").limits;
    const Verdict verdict = run_on_cpu(job);
    INFO(bad.name << ": " << verdict.summary << " | " << verdict.detail << " | stage "
                  << to_string(verdict.stage) << " | " << verdict.stderr_text.substr(0, 500));
    CHECK(verdict.outcome == bad.outcome);
    CHECK(to_string(verdict.error_kind) == to_string(bad.kind));
    CHECK(to_string(verdict.stage) == to_string(bad.stage));
    CHECK(to_string(verdict.tier) ==
          to_string(bad.stage == Stage::import ? Tier::none : Tier::interpreter));
    if (bad.stage == Stage::run && verdict.cases.empty())
      CHECK(verdict.tier_reason == "stopped by the error");
  }
  CHECK(run_on_cpu(test_job(kGood)).outcome == Outcome::pass);
}

TEST_CASE(
    "a submission that exceeds the time limit learns its line; one that cannot be stopped or lies "
    "does not") {
  Job job = test_job("def vector_add(x, y):\n    n = 0\n    while True:\n        n += 1\n");
  job.limits.run_wall_ms = 2'000;
  const Verdict loops = run_on_cpu(job);
  CHECK(to_string(loops.error_kind) == to_string(ErrorKind::timeout));
  REQUIRE(loops.diagnostic);
  CHECK(loops.diagnostic->line.value_or(0) >= 3);
  CHECK(loops.detail == "stopped after 1900 ms; the limit is 2000 ms (case 'small')");

  job.source =
      "import time\ndef vector_add(x, y):\n    while True:\n        try:\n            "
      "time.sleep(9)\n        except BaseException: pass\n";
  const Verdict stubborn = run_on_cpu(job);
  CHECK(to_string(stubborn.error_kind) == to_string(ErrorKind::timeout));
  CHECK(stubborn.detail == "ran longer than 2000 ms in stage run");
  CHECK_FALSE(stubborn.diagnostic);

  job.source =
      "import sys\ndef vector_add(x, y):\n    raise "
      "sys.modules['harness.entry.time_limit'].TimeIsUp('at "
      "once')\n";
  const Verdict liar = run_on_cpu(job);
  CHECK(to_string(liar.error_kind) == to_string(ErrorKind::protocol_error));
  CHECK(liar.detail == "the candidate reported a timeout before its time limit");
}

TEST_CASE("output is kept up to a bound, and never decides") {
  const Verdict verdict = run_on_cpu(test_job("print('pass' * 100000)\n" + kGood));
  CHECK(verdict.outcome == Outcome::pass);
  CHECK(verdict.stdout_text.size() < 70'000);
  CHECK(verdict.stdout_text.find("bytes cut") != std::string::npos);
}

TEST_CASE("a grade has figures and hints from a recording") {
  const Verdict verdict = run_on_cpu(vector_add(JobKind::grade, oracle()));
  INFO(verdict.summary);
  for (const Hint& hint : verdict.hints) UNSCOPED_INFO(hint.text);
  CHECK(verdict.outcome == Outcome::pass);
  REQUIRE_FALSE(verdict.kernels.empty());
  CHECK(verdict.kernels[0].registers > 0);
  CHECK(verdict.kernels[0].occupancy > 0);
  CHECK_FALSE(verdict.perf);
}

TEST_CASE("a graded pass needs kernels that compile, also if the interpreter finds them right") {
  std::string python = kGood;
  python.replace(python.find("tl.store"), 8, "import numpy; numpy.exp(0.0); tl.store");
  CHECK(run_on_cpu(test_job(python)).outcome == Outcome::pass);
  Job job = vector_add(JobKind::grade, python);
  const Verdict verdict = run_on_cpu(job);
  INFO(verdict.summary << " " << verdict.detail);
  CHECK(verdict.outcome == Outcome::error);
  CHECK((verdict.stage == Stage::compile || verdict.stage == Stage::record));
}

TEST_CASE("compile works for several targets without a GPU") {
  Job job = vector_add(JobKind::compile, oracle());
  job.targets = {"cuda:80", "cuda:90", "hip:gfx942"};
  job.want_artifacts = true;
  const Verdict verdict = run_on_cpu(job);
  INFO(verdict.summary << verdict.detail << verdict.stderr_text);
  CHECK(verdict.outcome == Outcome::pass);
  CHECK(verdict.tier == Tier::none);
  CHECK(verdict.kernels.size() == 3);
  std::map<std::string, int> kinds;
  for (const Artifact& artifact : verdict.artifacts) ++kinds[artifact.kind];
  CHECK(kinds["ptx"] == 2);
  CHECK(kinds["amdgcn"] == 1);
  CHECK(kinds["plan"] == 3);
}

TEST_CASE("a job can be cancelled while it runs") {
  std::stop_source cancel;
  JobMonitor monitor{.stop = cancel.get_token()};
  std::thread canceller;
  std::chrono::steady_clock::time_point start;
  monitor.stage_changed = [&](Stage stage) {
    if (stage != Stage::run || canceller.joinable()) return;
    start = std::chrono::steady_clock::now();
    canceller = std::thread([&] { cancel.request_stop(); });
  };
  const Verdict verdict = cpu().execute(
      vector_add(JobKind::test, "def vector_add(x, y):\n    while True: pass\n"), monitor);
  REQUIRE(canceller.joinable());
  canceller.join();
  CHECK(verdict.error_kind == ErrorKind::cancelled);
  CHECK(std::chrono::steady_clock::now() - start < std::chrono::milliseconds(1'000));
}

TEST_CASE("jobs run side by side") {
  std::vector<std::thread> threads;
  std::atomic<int> passed{0};
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&, job = test_job(i % 2 == 0 ? kGood : kBad[0].source),
                          want = i % 2 == 0 ? Outcome::pass : Outcome::fail] {
      JobMonitor monitor;
      passed += cpu().execute(job, monitor).outcome == want;
    });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(passed == 4);
}

TEST_CASE(
    "a dialect that cannot be interpreted is compiled, and the verdict names the GPU that it "
    "needs") {
  Job job = vector_add(JobKind::test,
                       read_text(ASSAY_SOURCE_DIR "/operators/dsl/gluon_blocked_add/oracle.py"));
  job.operator_name = job.entry = "gluon_blocked_add";
  job.operator_dir = ASSAY_SOURCE_DIR "/operators/dsl/gluon_blocked_add";
  job.dialect = "gluon";
  const Verdict verdict = run_on_cpu(job);
  INFO(verdict.summary << " " << verdict.detail << verdict.stderr_text);
  CHECK(verdict.outcome == Outcome::error);
  CHECK(verdict.error_kind == ErrorKind::unsupported);
  CHECK(verdict.detail.find("Hopper") != std::string::npos);
  CHECK_FALSE(verdict.kernels.empty());
}

TEST_CASE("CUDA C++ is compiled, and the verdict names the GPU that it needs") {
  Job job = test_job(read_text(std::string(ASSAY_SOURCE_DIR) + "/tests/cuda_cpp/vector_add.cu"));
  job.language = "cuda";
  for (const JobKind kind : {JobKind::test, JobKind::grade, JobKind::profile}) {
    job.kind = kind;
    const Verdict verdict = run_on_cpu(job);
    INFO(verdict.summary << verdict.detail << verdict.stderr_text);
    CHECK(verdict.error_kind == ErrorKind::unsupported);
    CHECK(verdict.detail.find("NVIDIA GPU") != std::string::npos);
    REQUIRE(verdict.kernels.size() == 1);
    CHECK(verdict.kernels[0].registers > 0);
    CHECK(verdict.language == "cuda");
  }
  job.kind = JobKind::compile;
  CHECK(run_on_cpu(job).outcome == Outcome::pass);
  job.source += "oops";
  CHECK(run_on_cpu(job).error_kind == ErrorKind::compilation_error);
  job.kind = JobKind::test;
  const Verdict refused = run_on_cpu(job);
  CHECK(refused.error_kind == ErrorKind::compilation_error);
  REQUIRE(refused.diagnostic);
  CHECK(refused.diagnostic->message.find("submission.cu(") != std::string::npos);
}

TEST_CASE("a fresh process for each candidate gives the same verdicts as forks of the zygote") {
  SandboxConfig config = real_config();
  config.spawn = true;
  const std::unique_ptr<Device> spawning = make_cpu_device(config);
  std::vector<std::string> sources = {
      kGood, "import torch, triton\nprint(torch.__version__)\n" + oracle()};
  for (const Bad& bad : kBad) {
    for (const char* name : {"raises", "does not parse", "wrong dtype", "dies of a signal",
                             "exits when called", "memory hog"}) {
      if (std::string(bad.name) == name) sources.emplace_back(bad.source);
    }
  }
  REQUIRE(sources.size() == 8);
  for (const std::string& source : sources) {
    Job job = test_job(source);
    // Every source ends by itself, but a busy machine takes seconds to fill a hog's memory.
    job.limits.run_wall_ms = 30'000;
    JobMonitor monitor;
    const Verdict spawned = spawning->execute(job, monitor), forked = run_on_cpu(job);
    INFO(source << "\nspawned: " << spawned.summary << "\nforked: " << forked.summary);
    CHECK(spawned.outcome == forked.outcome);
    CHECK(spawned.error_kind == forked.error_kind);
    CHECK(spawned.stage == forked.stage);
    CHECK(spawned.tier == forked.tier);
    CHECK(spawned.stdout_text == forked.stdout_text);
    CHECK(spawned.provenance.missing_layers == forked.provenance.missing_layers);
    CHECK(spawned.cases.size() == forked.cases.size());
    for (std::size_t i = 0; i < std::min(spawned.cases.size(), forked.cases.size()); ++i) {
      CHECK(spawned.cases[i].id == forked.cases[i].id);
      CHECK(spawned.cases[i].outcome == forked.cases[i].outcome);
    }
    REQUIRE(spawned.diagnostic.has_value() == forked.diagnostic.has_value());
    if (!spawned.diagnostic) continue;
    CHECK(spawned.diagnostic->exception == forked.diagnostic->exception);
    CHECK(spawned.diagnostic->message == forked.diagnostic->message);
    CHECK(spawned.diagnostic->line == forked.diagnostic->line);
  }
}

TEST_CASE("outputs are judged only after the candidate and all of its processes have ended") {
  // The candidate does not end after its last result. 0.5 s later a process that it started, in its
  // own session, spoils the outputs. The test delays the judge until after that.
  const std::string source = R"(import gc, os, time
import torch, triton
import triton.language as tl
channel = next(item for item in gc.get_objects() if type(item).__name__ == "Channel")
send = channel.send

def outputs():
    paths = [f"/proc/self/fd/{name}" for name in os.listdir("/proc/self/fd")]
    return [int(path.rsplit("/", 1)[1]) for path in paths if os.path.islink(path) and "assay-outputs" in os.readlink(path)]

def send_and_spoil_later(header, payload=b"", fds=()):
    if header["type"] == "done":
        spoiled = outputs()
        assert spoiled
        if os.fork() == 0:
            os.setsid()
            time.sleep(0.5)
            for fd in spoiled:
                os.pwrite(fd, b"x" * 4096, 0)
            time.sleep(1000)
    send(header, payload, fds)
    if header["type"] == "done":
        time.sleep(1000)

channel.send = send_and_spoil_later

@triton.jit
def add(x, y, z, n, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    tl.store(z + i, tl.load(x + i, mask=i < n) + tl.load(y + i, mask=i < n), mask=i < n)

def vector_add(x, y):
    z = torch.empty_like(x)
    add[(triton.cdiv(x.numel(), 256),)](x, y, z, x.numel(), B=256)
    return z
)";
  JobMonitor monitor;
  monitor.stage_changed = [](Stage stage) {
    if (stage == Stage::judge) std::this_thread::sleep_for(std::chrono::milliseconds(1'500));
  };
  const Verdict verdict = cpu().execute(test_job(source), monitor);
  INFO(verdict.summary << verdict.detail << verdict.stderr_text);
  CHECK(verdict.outcome == Outcome::pass);
}

TEST_CASE("a stored launch plan needs a GPU, and the verdict names it") {
  JobMonitor monitor;
  Job job = test_job("");
  job.plans = {{job.cases[0].id, "ASSAYPLN"}};
  const Verdict verdict = cpu().execute(job, monitor);
  CHECK(verdict.error_kind == ErrorKind::unsupported);
  CHECK(verdict.detail.find("cuda:N") != std::string::npos);
  CHECK(verdict.cases.empty());
}
