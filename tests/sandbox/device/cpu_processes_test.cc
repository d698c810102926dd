// Tests the processes of the CPU device: cancellation, simultaneous jobs, new processes instead of
// forks, and processes that outlive their candidate.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "tests/catch.h"
#include "tests/sandbox/device/bad_submissions.h"
#include "tests/sandbox/device/cpu_fixture.h"

using namespace assay;
using namespace assay::sandbox;
using namespace assay::sandbox::testing;

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
  // A job that nobody cancels ends after its time limit of 60 s.
  CHECK(std::chrono::steady_clock::now() - start < std::chrono::seconds(50));
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

TEST_CASE("a fresh process for each candidate gives the same verdicts as forks of the zygote") {
  SandboxConfig config = real_config();
  config.spawn = true;
  const std::unique_ptr<Device> spawning = make_cpu_device(config);
  std::vector<Job> jobs = {test_job(kGood),
                           test_job("import torch, triton\nprint(torch.__version__)\n" + oracle())};
  for (const Bad& bad : kBad) {
    for (const char* name : {"raises", "does not parse", "wrong dtype", "dies of a signal",
                             "exits when called", "memory hog"}) {
      if (std::string(bad.name) != name) continue;
      jobs.push_back(test_job(bad.source));
      if (bad.kind == ErrorKind::memory_limit) jobs.back().limits.memory_bytes = 1LL << 30;
    }
  }
  REQUIRE(jobs.size() == 8);
  for (const Job& job : jobs) {
    JobMonitor monitor;
    const Verdict spawned = spawning->execute(job, monitor), forked = run_on_cpu(job);
    INFO(job.source << "\nspawned: " << spawned.summary << "\nforked: " << forked.summary);
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
  // After its last result, the candidate does not end. A process that the candidate has started in
  // a new session overwrites the outputs 0.5 s later. The judge compares them after 1.5 s, because
  // the test delays the judge.
  const std::string source = R"(import gc, os, time
import torch, triton
import triton.language as tl
channel = next(item for item in gc.get_objects() if type(item).__name__ == "Channel")
send = channel.send

def outputs():
    paths = [f"/proc/self/fd/{name}" for name in os.listdir("/proc/self/fd")]
    return [int(path.rsplit("/", 1)[1]) for path in paths if os.path.islink(path) and "assay-outputs" in os.readlink(path)]

def send_and_spoil_later(header, payload=b"", fds=()):
    if os.environ.get("TRITON_INTERPRET") != "1":  # a recording has no outputs
        return send(header, payload, fds)
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
