// Tests the zygote, candidates, the judge and the start of processes, with the real harness.
#include "sandbox/pool/candidate_pool.h"

#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <future>
#include <map>
#include <stop_token>

#include "sandbox/pool/judge.h"
#include "tests/catch.h"
#include "tests/sandbox/device/device_fixture.h"

using namespace assay;
using namespace assay::sandbox;
using namespace assay::sandbox::testing;

namespace {

SpawnRequest sh(const std::string& script) {
  return {.argv = {"/bin/sh", "-c", script},
          .environment = {},
          .inherit = {},
          .log = std::string(ASSAY_BINARY_DIR) + "/spawn-test.log"};
}

std::string log_text() { return tail_of(std::string(ASSAY_BINARY_DIR) + "/spawn-test.log"); }

CandidateJob empty_job() {
  return {CandidateMode::interpret, "entry", "triton", "cuda:90", false, false, {}};
}

/// Waits until the candidate has imported the source.
bool imports(Candidate& candidate) {
  while (true) {
    const CandidateEvent event = candidate.next(Deadline::after_ms(60'000));
    if (event.kind != CandidateEvent::Kind::message) return false;
    if (std::holds_alternative<Imported>(event.message)) return true;
    if (!std::holds_alternative<SourceParsed>(event.message)) return false;
  }
}

CandidateEvent until_end(Candidate& candidate) {
  while (true) {
    CandidateEvent event = candidate.next(Deadline::after_ms(60'000));
    if (event.kind != CandidateEvent::Kind::message ||
        std::holds_alternative<Done>(event.message) ||
        std::holds_alternative<CandidateError>(event.message))
      return event;
  }
}

}  // namespace

TEST_CASE("a process is started, described and reaped") {
  Spawner spawner;
  Result<Process> good = spawner.spawn(sh("echo out; echo err >&2; exit 3"));
  REQUIRE(good);
  std::optional<ExitStatus> status = good->wait(Deadline::after_ms(60'000));
  REQUIRE(status);
  CHECK(describe(*status) == "exit status 3");
  CHECK(log_text() == "out\nerr");

  Result<Process> endless = spawner.spawn(sh("exec sleep 1000"));
  REQUIRE(endless);
  CHECK(endless->alive());
  CHECK_FALSE(endless->wait(Deadline::after_ms(20)));
  endless->kill();
  status = endless->wait(Deadline::after_ms(60'000));
  REQUIRE(status);
  CHECK(describe(*status) == "killed by SIGKILL");

  Result<Process> absent = spawner.spawn(
      {.argv = {"/does/not/exist"}, .environment = {}, .inherit = {}, .log = sh("").log});
  REQUIRE(absent);
  CHECK(absent->wait(Deadline::after_ms(60'000))->value == 127);
  CHECK(log_text() == "exec: no such program");
}

TEST_CASE("a child gets the descriptors of its request and no others") {
  Spawner spawner;
  Result<SocketPair> sockets = make_socket_pair();
  REQUIRE(sockets);
  const int theirs = sockets->theirs.get();
  SpawnRequest request =
      sh("for fd in /proc/$$/fd/*; do readlink $fd; done | grep -c socket:; readlink /proc/$$/fd/" +
         std::to_string(theirs));
  request.inherit = {theirs};
  Result<Process> child = spawner.spawn(request);
  REQUIRE(child);
  REQUIRE(child->wait(Deadline::after_ms(60'000)));
  CHECK(log_text().starts_with("1\nsocket:"));
}

TEST_CASE("keys and tokens do not go to trusted processes") {
  ::setenv("ASSAY_TEST_API_KEY", "swordfish", 1);
  ::setenv("ASSAY_TEST_PLAIN", "yes", 1);
  bool plain = false;
  for (const auto& [name, value] : trusted_environment()) {
    CHECK(value != "swordfish");
    plain |= name == "ASSAY_TEST_PLAIN" && value == "yes";
  }
  CHECK(plain);
}

TEST_CASE("a variable of a trusted process that is overridden occurs once, with its new value") {
  ::setenv("ASSAY_TEST_PLAIN", "yes", 1);
  ::setenv("CUDA_DEVICE_ORDER", "FASTEST_FIRST", 1);
  std::map<std::string, std::vector<std::string>> seen;
  for (const auto& [name, value] :
       trusted_environment({{"ASSAY_TEST_PLAIN", "no"}, {"ASSAY_TEST_MORE", "1"}}))
    seen[name].push_back(value);
  ::unsetenv("CUDA_DEVICE_ORDER");
  CHECK(seen["ASSAY_TEST_PLAIN"] == std::vector<std::string>{"no"});
  CHECK(seen["ASSAY_TEST_MORE"] == std::vector<std::string>{"1"});
  CHECK(seen["CUDA_DEVICE_ORDER"] == std::vector<std::string>{"PCI_BUS_ID"});
}

TEST_CASE("output beyond the budget keeps head and tail") {
  OutputRing ring(10);
  ring.append("12345");
  ring.append("67890");
  CHECK(ring.text() == "1234567890");
  for (int i = 0; i < 1000; ++i) ring.append("abc");
  ring.append("vwxyz");
  CHECK(ring.total() == 3015);
  CHECK(ring.text() == "12345\n[... 3005 bytes cut ...]\nvwxyz");
}

TEST_CASE("candidates are parked, serve one job each, and report how they ended") {
  Spawner spawner;
  CandidatePool pool(real_config(), spawner);
  const Deadline deadline = Deadline::after_ms(60'000);
  Limits limits;

  Result<std::unique_ptr<Candidate>> first = pool.take(limits, deadline);
  if (!first) FAIL(first.error().message);
  REQUIRE(pool.facts());
  CHECK_FALSE(pool.facts()->versions.torch.empty());
  CHECK(pool.facts()->layers.size() > 20);
  REQUIRE((*first)->send(empty_job(), "def entry():\n    pass\n", {}, deadline));
  REQUIRE(imports(**first));
  REQUIRE((*first)->send(CandidateBatch{}, {}, deadline));
  CHECK(std::holds_alternative<Done>(until_end(**first).message));
  const auto status = (*first)->end(2'000);
  REQUIRE(status);
  CHECK(describe(*status) == "exit status 0");
  CHECK_FALSE((*first)->was_killed());
  pool.give_back(std::move(*first));

  Result<std::unique_ptr<Candidate>> second = pool.take(limits, deadline);
  REQUIRE(second);
  REQUIRE((*second)->send(empty_job(),
                          "import ctypes\nprint('last words', flush=True)\nctypes.string_at(0)\n",
                          {}, deadline));
  CHECK(until_end(**second).kind == CandidateEvent::Kind::ended);
  const auto crashed = (*second)->end(2'000);
  REQUIRE(crashed);
  CHECK(describe(*crashed) == "killed by SIGSEGV");
  CHECK((*second)->stdout_text() == "last words\n");
  pool.give_back(std::move(*second));

  limits.memory_bytes = 512 << 20;  // the candidates in the pool have other limits
  Result<std::unique_ptr<Candidate>> third = pool.take(limits, deadline);
  REQUIRE(third);
  CHECK((*third)->suits(limits));
  REQUIRE((*third)->send(empty_job(), "while True: pass\n", {}, deadline));
  const CandidateEvent parsed = (*third)->next(Deadline::after_ms(60'000));
  CHECK(std::holds_alternative<SourceParsed>(parsed.message));
  CHECK((*third)->next(Deadline::after_ms(100)).kind == CandidateEvent::Kind::timeout);
  CHECK(describe(*(*third)->end()) == "killed by SIGKILL");
  CHECK((*third)->was_killed());
  pool.give_back(std::move(*third));
}

TEST_CASE("a candidate whose zygote was killed has ended when end() returns") {
  Spawner spawner;
  CandidatePool pool(real_config(), spawner);
  const Deadline deadline = Deadline::after_ms(60'000);
  for (int round = 0; round < 3; ++round) {
    Result<std::unique_ptr<Candidate>> taken = pool.take(Limits{}, deadline);
    if (!taken) FAIL(taken.error().message);
    Candidate& candidate = **taken;
    REQUIRE(candidate.send(empty_job(), "while True: pass\n", {}, deadline));
    CHECK(std::holds_alternative<SourceParsed>(candidate.next(deadline).message));
    std::promise<void> zygote_ended;
    const std::stop_callback on_end(candidate.zygote().ended(), [&] { zygote_ended.set_value(); });
    REQUIRE(::kill(candidate.zygote().pid(), SIGKILL) == 0);
    // The signal ends the zygote's first process, and the zygote itself a little later. Until then
    // it could tell how the candidate ended.
    REQUIRE(zygote_ended.get_future().wait_for(std::chrono::seconds(60)) ==
            std::future_status::ready);
    CHECK_FALSE(candidate.end());  // nothing tells how it ended
    CHECK(candidate.exited());
    pool.give_back(std::move(*taken));
  }
}

TEST_CASE("a candidate that something else killed tells so, even if it ends slowly") {
  Spawner spawner;
  CandidatePool pool(real_config(), spawner);
  const Deadline deadline = Deadline::after_ms(60'000);
  Result<std::unique_ptr<Candidate>> taken = pool.take(Limits{}, deadline);
  if (!taken) FAIL(taken.error().message);
  Candidate& candidate = **taken;
  REQUIRE(candidate.send(empty_job(), "while True: pass\n", {}, deadline));
  CHECK(std::holds_alternative<SourceParsed>(candidate.next(deadline).message));
  REQUIRE(candidate.cpu_times());
  REQUIRE(::kill(candidate.pid(), SIGKILL) == 0);
  CHECK(until_end(candidate).kind == CandidateEvent::Kind::ended);
  const std::optional<ExitStatus> status = candidate.end(1);  // a millisecond of grace
  REQUIRE(status);
  CHECK(describe(*status) == "killed by SIGKILL");
  CHECK_FALSE(candidate.was_killed());
  pool.give_back(std::move(*taken));
}

TEST_CASE("a zygote that cannot start is an error with the end of its output") {
  Spawner spawner;
  SandboxConfig config = real_config();
  config.python = "/usr/bin/env";
  CandidatePool pool(config, spawner);
  const auto candidate = pool.take({}, Deadline::after_ms(60'000));
  REQUIRE_FALSE(candidate);
  INFO(candidate.error().message);
  CHECK(candidate.error().message.find("zygote") != std::string::npos);
}

TEST_CASE("waiting for a candidate can be cancelled") {
  Spawner spawner;
  CandidatePool pool(real_config(), spawner);
  std::stop_source cancel;
  cancel.request_stop();
  const auto start = std::chrono::steady_clock::now();
  CHECK(pool.take({}, Deadline::after_ms(60'000, cancel.get_token())).error().code ==
        ErrorCode::cancelled);
  CHECK(std::chrono::steady_clock::now() - start < std::chrono::seconds(50));
}

TEST_CASE("the judge answers for its operators and survives a broken one") {
  Spawner spawner;
  Judge judge(real_config(), spawner, "cpu");
  const Deadline deadline = Deadline::after_ms(60'000);
  Job job = vector_add(JobKind::test, "");
  job.cases.resize(1);
  Job broken = job;
  broken.operator_dir = "/does/not/exist";
  const auto refused = judge.prepare(broken, deadline);
  REQUIRE_FALSE(refused);
  CHECK(refused.error().code == ErrorCode::internal);
  const auto prepared = judge.prepare(job, deadline);
  if (!prepared) FAIL(prepared.error().message);
  REQUIRE(prepared->cases.size() == 1);
  CHECK(prepared->cases[0].arguments.size() == 2);
  CHECK(prepared->cases[0].arguments[0].fd == 0);
  CHECK(prepared->cases[0].outputs[0].nbytes == 4 * 4097);
  CHECK(prepared->cases[0].cost_bytes == 3.0 * 4 * 4097);
  judge.release(job.id);
  const std::vector<Argument> none;
  const RunOutputs outputs{.tensors = none, .fd = prepared->fds[0].get()};
  CHECK_FALSE(judge.compare({job.id, "small"}, outputs, deadline));
  const RunOutputs on_device{.tensors = none};
  const auto mixed =
      judge.attribute({job.id, "small"}, {.full = outputs, .without = on_device}, deadline);
  REQUIRE_FALSE(mixed);
  CHECK(mixed.error().code == ErrorCode::invalid_argument);
}

TEST_CASE(
    "a judge whose context an operator has broken is replaced, and the new one prepares the job "
    "when it is asked again") {
  namespace fs = std::filesystem;
  Spawner spawner;
  Judge judge(real_config(), spawner, "cpu");
  const Deadline deadline = Deadline::after_ms(60'000);
  Job job = vector_add(JobKind::test, "");
  job.cases.resize(1);
  // This operator's code makes the first judge report a lost CUDA context. On a GPU, the code of an
  // operator can really lose the context.
  const fs::path folder = fs::path(real_config().state_dir) / "breaks_once";
  fs::remove_all(folder);
  fs::create_directories(folder);
  fs::copy_file(fs::path(job.operator_dir) / "spec.toml", folder / "spec.toml");
  std::ifstream reference(fs::path(job.operator_dir) / "reference.py");
  std::ofstream(folder / "reference.py") << reference.rdbuf() << R"(
import os, pathlib, harness.judging.failures
_mark = pathlib.Path(__file__).with_name("mark")
_judge = str(os.getpid())
if not _mark.exists() or _mark.read_text() == _judge:
    _mark.write_text(_judge)
    harness.judging.failures.context_is_lost = lambda device: True
    raise RuntimeError("broken")
)";
  Job breaks = job;
  breaks.operator_dir = folder.string();
  // The error is that of a judge that ended. JudgeRetries then runs the job again.
  const auto noticed = judge.prepare(breaks, deadline);
  REQUIRE_FALSE(noticed);
  CHECK(noticed.error().code == ErrorCode::unavailable);
  const auto prepared = judge.prepare(breaks, deadline);
  if (!prepared) FAIL(prepared.error().message);
  CHECK(prepared->cases.size() == 1);
  CHECK(fs::exists(folder / "mark"));
  judge.release(job.id);
}

TEST_CASE("a submission gets fewer candidates while others are compiled") {
  SandboxConfig config = real_config();
  config.recorder_cores = 8;
  Spawner spawner;
  CandidatePool pool(config, spawner);
  std::vector<FifoSemaphore::Slot> held;
  const auto recorders = [&](std::size_t jobs) {
    while (held.size() < jobs) {
      Result<FifoSemaphore::Slot> slot = pool.begin_work(Deadline::after_ms(0));
      REQUIRE(slot);
      held.push_back(std::move(*slot));
    }
    return pool.recorders_for(2);
  };
  CHECK(recorders(1) == 2);
  CHECK(pool.recorders_for(16) == 8);
  CHECK(pool.recorders_for(0) == 1);
  CHECK(recorders(4) == 2);
  CHECK(recorders(5) == 1);
  CHECK(recorders(20) == 1);
  held.erase(held.begin() + 4, held.end());
  CHECK(recorders(4) == 2);
}
