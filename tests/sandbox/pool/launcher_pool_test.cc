#include "sandbox/pool/launcher_pool.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <filesystem>
#include <fstream>
#include <future>
#include <memory>
#include <string>
#include <vector>

#include "base/text.h"
#include "sandbox/wire/memfd.h"
#include "tests/catch.h"
#include "tests/sandbox/device/device_fixture.h"
#include "tests/sandbox/pool/launchers.h"

using namespace assay;
using namespace assay::sandbox;
using assay::sandbox::testing::real_config;
using assay::sandbox::testing::SickSwitch;
using assay::sandbox::testing::soon;
using assay::sandbox::testing::StartLog;
using assay::sandbox::testing::taken;

namespace {

constexpr long kPidfdOpen = 434;  // the same number on every architecture

constexpr const char* kTrusted = "/operators/standard/vector_add";

std::unique_ptr<LauncherClient> taken_for_oracle(LauncherPool& pool,
                                                 const std::string& operator_dir = kTrusted) {
  Result<std::unique_ptr<LauncherClient>> launcher = pool.take_for_oracle(operator_dir, soon());
  REQUIRE(launcher);
  REQUIRE((*launcher)->alive());
  return std::move(*launcher);
}

std::unique_ptr<LauncherClient> taken_for_run(LauncherPool& pool, const std::string& run) {
  Result<std::unique_ptr<LauncherClient>> launcher = pool.take_for_run(run, soon());
  REQUIRE(launcher);
  REQUIRE((*launcher)->alive());
  return std::move(*launcher);
}

/// Returns the process id of a launcher that a run has used and returned to the pool.
pid_t kept_pid(LauncherPool& pool) {
  std::unique_ptr<LauncherClient> used = taken_for_run(pool, "run_a");
  const pid_t pid = used->pid();
  pool.keep_for_run("run_a", std::move(used));
  return pid;
}

void launch_no_plan(LauncherClient& launcher) {
  LaunchRequest request;
  request.case_id = "none";
  request.output_bytes = 64;
  const Result<UniqueFd> outputs = create_memfd("assay-test", 64);
  REQUIRE(outputs);
  REQUIRE(
      std::get<LaunchFailure>(launcher.launch(request, "no plan", {outputs->get()}, soon()).value())
          .error.kind == LaunchErrorKind::invalid_plan);
}

/// Waits until a process has ended, even if it is not reaped yet.
bool ends(int pidfd) {
  std::array<pollfd, 1> entries{{{pidfd, POLLIN, 0}}};
  return poll_until(entries, soon()) == 1;
}

}  // namespace

TEST_CASE("parked launchers are handed out at once, and more are started for callers that wait") {
  Spawner spawner;
  LauncherPool pool(real_config(), spawner, 0, "fake");
  const Result<LauncherReady> ready = pool.ready(soon());
  REQUIRE(ready);
  CHECK(ready->device.name == "Fake GPU");
  CHECK(pool.device()->name == "Fake GPU");
  std::vector<std::unique_ptr<LauncherClient>> all;
  for (int i = 0; i < 4; ++i) all.push_back(taken(pool));
  for (auto& one : all) pool.discard(std::move(one));
}

TEST_CASE("launchers are made ready one after the other, and at once for callers that wait") {
  Spawner spawner;
  const StartLog log("starts", 2);
  SandboxConfig config = log.config();
  config.parked_launchers = 3;
  LauncherPool pool(config, spawner, 0, "fake");
  std::unique_ptr<LauncherClient> first = taken(pool), second = taken(pool);
  CHECK(log.comes_to(3));  // the third start never becomes ready
  // The pool's thread starts launchers first, and ends discarded launchers only when it is idle. So
  // if the thread wanted a fourth start, it would make this start before the discarded launcher
  // ends.
  pool.discard(std::move(first));
  REQUIRE(pool.end_those_of_runs(soon()));
  CHECK(log.count() == 3);

  std::stop_source cancel;
  const auto wait_for_one = [&] {
    return pool.take(Deadline::after_ms(60'000, cancel.get_token())).has_value();
  };
  std::future<bool> one = std::async(std::launch::async, wait_for_one),
                    other = std::async(std::launch::async, wait_for_one);
  CHECK(log.comes_to(4));
  pool.discard(std::move(second));
  REQUIRE(pool.end_those_of_runs(soon()));
  CHECK(log.count() == 4);
  cancel.request_stop();
  CHECK_FALSE(one.get());
  CHECK_FALSE(other.get());
}

TEST_CASE("a launcher that cannot start is an error with the reason, and a cancelled wait ends") {
  Spawner spawner;
  SandboxConfig config = real_config();
  config.launcher = "/bin/false";
  LauncherPool pool(config, spawner, 0, "fake");
  const auto launcher = pool.take(soon());
  REQUIRE_FALSE(launcher);
  CHECK(launcher.error().message.find("the launcher did not become ready") != std::string::npos);
  const auto device = pool.ready(soon());
  REQUIRE_FALSE(device);

  const std::filesystem::path script = std::filesystem::path(config.state_dir) / "silent.sh";
  std::ofstream(script) << "#!/bin/sh\nexec sleep 60\n";
  std::filesystem::permissions(script, std::filesystem::perms::owner_all);
  config.launcher = script.string();
  LauncherPool silent(config, spawner, 0, "fake");
  std::stop_source cancel;
  cancel.request_stop();
  const auto cancelled = silent.take(Deadline::after_ms(5'000, cancel.get_token()));
  REQUIRE_FALSE(cancelled);
  CHECK(cancelled.error().code == ErrorCode::cancelled);
}

TEST_CASE("after a fault, each launcher checks the device before it is handed out again") {
  Spawner spawner;
  LauncherPool pool(real_config(), spawner, 0, "fake");
  REQUIRE(pool.ready(soon()));
  std::unique_ptr<LauncherClient> used = taken(pool);
  const pid_t kept = kept_pid(pool);
  pool.invalidate_idle();
  pool.discard(std::move(used));
  std::unique_ptr<LauncherClient> unused = taken(pool), of_run = taken_for_run(pool, "run_a");
  CHECK(unused->faults_before() == 1);
  CHECK(of_run->faults_before() == 1);
  CHECK(of_run->pid() == kept);  // a check is enough, so the run's context is not lost
  CHECK_FALSE(pool.last_start_error());
  // A launcher that does not pass the check is replaced.
  const Result<LauncherReady> ready = pool.ready(soon());
  CHECK(of_run->check(soon()));
  of_run->kill();
  CHECK_FALSE(of_run->check(soon()));
  pool.discard(std::move(unused));
  pool.discard(std::move(of_run));
}

TEST_CASE("the launcher of an oracle is kept for the next oracle only") {
  Spawner spawner;
  LauncherPool pool(real_config(), spawner, 0, "fake");
  std::unique_ptr<LauncherClient> first = taken_for_oracle(pool), second = taken_for_oracle(pool);
  const LauncherClient* const kept = first.get();
  pool.keep(kTrusted, std::move(first));
  pool.keep(kTrusted, std::move(second));  // the pool keeps only one
  std::vector<std::unique_ptr<LauncherClient>> all;
  for (int i = 0; i < 4; ++i) all.push_back(taken(pool));
  for (auto& one : all) {
    CHECK(one.get() != kept);
    pool.discard(std::move(one));
  }
  std::unique_ptr<LauncherClient> again = taken_for_oracle(pool);
  CHECK(again.get() == kept);
  pool.discard(std::move(again));
}

TEST_CASE("the launcher of an imported suite's oracle is kept for this suite only") {
  Spawner spawner;
  SandboxConfig config = real_config();
  config.imported_suites = {"/suites/one", "/suites/other"};
  LauncherPool pool(config, spawner, 0, "fake");
  std::unique_ptr<LauncherClient> first = taken_for_oracle(pool, "/suites/one/add");
  const LauncherClient* const kept = first.get();
  pool.keep("/suites/one/add", std::move(first));
  std::vector<std::unique_ptr<LauncherClient>> others;
  for (const char* folder : {kTrusted, "/suites/other/add", "/suites/one_more/add"})
    others.push_back(taken_for_oracle(pool, folder));
  for (auto& one : others) {
    CHECK(one.get() != kept);
    pool.discard(std::move(one));
  }
  std::unique_ptr<LauncherClient> again = taken_for_oracle(pool, "/suites/one/mul");
  CHECK(again.get() == kept);
  pool.discard(std::move(again));
}

TEST_CASE(
    "the kept launcher of oracles checks the device after a fault, and is replaced if it ended") {
  Spawner spawner;
  LauncherPool pool(real_config(), spawner, 0, "fake");
  std::unique_ptr<LauncherClient> during = taken_for_oracle(pool);
  pool.invalidate_idle();
  CHECK(during->alive());  // the launcher may finish the submission that is using it
  pool.keep(kTrusted, std::move(during));
  std::unique_ptr<LauncherClient> since = taken_for_oracle(pool);
  CHECK(since->faults_before() == 1);
  pool.keep(kTrusted, std::move(since));
  pool.invalidate_idle();
  std::unique_ptr<LauncherClient> last = taken_for_oracle(pool);
  CHECK(last->faults_before() == 2);
  last->kill();
  REQUIRE(last->finish(soon()));
  pool.keep(kTrusted,
            std::move(last));  // the launcher has ended, so the pool does not hand it out again
  pool.discard(taken_for_oracle(pool));
}

TEST_CASE("a launcher is kept until it has performed kMostKeptLaunches") {
  Spawner spawner;
  LauncherPool pool(real_config(), spawner, 0, "fake");
  std::unique_ptr<LauncherClient> launcher = taken_for_oracle(pool);
  while (launcher->launches() < LauncherPool::kMostKeptLaunches) {
    pool.keep(kTrusted, std::move(launcher));
    launcher = taken_for_oracle(pool);
    launch_no_plan(*launcher);
  }
  pool.keep(kTrusted, std::move(launcher));
  launcher = taken_for_oracle(pool);
  CHECK(launcher->launches() == 0);
  pool.discard(std::move(launcher));
}

TEST_CASE("a device that fails its check is an error until a launcher passes the check") {
  Spawner spawner;
  const SickSwitch device("pool");
  LauncherPool pool(device.config(), spawner, 0, "fake");
  pool.discard(taken(pool));
  device.set(true);
  pool.invalidate_idle();
  // Launchers that started before pass their check. New ones do not.
  auto refused = pool.take(soon());
  for (int i = 0; i < 8 && refused; ++i) {
    pool.discard(std::move(*refused));
    refused = pool.take(soon());
  }
  REQUIRE_FALSE(refused);
  REQUIRE(pool.last_start_error());
  CHECK(pool.last_start_error()->find("the device fails its check") != std::string::npos);
  device.set(false);
  pool.discard(taken(pool));
  CHECK_FALSE(pool.last_start_error());
}

TEST_CASE("a run gets the launcher that it used again, and no other run does") {
  Spawner spawner;
  LauncherPool pool(real_config(), spawner, 0, "fake");
  std::unique_ptr<LauncherClient> first = taken_for_run(pool, "run_a");
  const LauncherClient* const kept = first.get();
  pool.keep_for_run("run_a", std::move(first));
  std::unique_ptr<LauncherClient> other = taken_for_run(pool, "run_b"), unused = taken(pool),
                                  oracles = taken_for_oracle(pool);
  CHECK(other.get() != kept);
  CHECK(unused.get() != kept);
  CHECK(oracles.get() != kept);
  std::unique_ptr<LauncherClient> again = taken_for_run(pool, "run_a");
  CHECK(again.get() == kept);
  std::unique_ptr<LauncherClient> beside =
      taken_for_run(pool, "run_a");  // a second job of the run at the same time
  CHECK(beside.get() != kept);
  for (auto* one : {&other, &unused, &oracles, &again, &beside}) pool.discard(std::move(*one));
}

TEST_CASE("kept_launchers limits those of runs, and each checks the device after a fault") {
  Spawner spawner;
  SandboxConfig config = real_config();
  config.kept_launchers = 1;
  LauncherPool pool(config, spawner, 0, "fake");
  std::unique_ptr<LauncherClient> first = taken_for_run(pool, "run_a"),
                                  second = taken_for_run(pool, "run_b");
  const LauncherClient *const of_a = first.get(), *const of_b = second.get();
  const int before = second->faults_before();
  pool.keep_for_run("run_a", std::move(first));
  pool.keep_for_run("run_b", std::move(second));
  std::unique_ptr<LauncherClient> new_one = taken_for_run(pool, "run_a"),
                                  old_one = taken_for_run(pool, "run_b");
  CHECK((new_one.get() == of_a) != (old_one.get() == of_b));  // one of the two was kept
  pool.keep_for_run("run_b", std::move(old_one));
  pool.invalidate_idle();
  old_one = taken_for_run(pool, "run_b");
  CHECK(old_one->faults_before() == before + 1);
  pool.discard(std::move(old_one));
  pool.keep_for_run("run_a", std::move(new_one));
  new_one = taken_for_run(pool, "run_a");
  CHECK(new_one->faults_before() == before + 1);
  pool.discard(std::move(new_one));
}

TEST_CASE("runs that take turns find some of their launchers if not all of them can be kept") {
  Spawner spawner;
  SandboxConfig config = real_config();
  config.kept_launchers = 3;
  LauncherPool pool(config, spawner, 0, "fake");
  int found = 0;
  for (int turn = 0; turn < 8; ++turn) {
    for (const char* const run : {"run_a", "run_b", "run_c", "run_d"}) {
      std::unique_ptr<LauncherClient> launcher = taken_for_run(pool, run);
      found += launcher->launches() > 0 ? 1 : 0;
      launch_no_plan(*launcher);
      pool.keep_for_run(run, std::move(launcher));
    }
  }
  CHECK(found >= 8);  // the seed is fixed; if the oldest ended, no run would find its launcher
}

TEST_CASE("without a number, a device with little memory keeps kFewest launchers") {
  Spawner spawner;
  LauncherPool pool(real_config(), spawner, 0, "fake");
  const Result<LauncherReady> ready = pool.ready(soon());
  REQUIRE(ready);
  REQUIRE(ready->device.memory_bytes < KeptContexts::kContextBytes * KeptContexts::kFewest);
  std::vector<std::unique_ptr<LauncherClient>> launchers;
  std::vector<std::string> runs;
  for (int i = 0; i <= KeptContexts::kFewest; ++i) {
    runs.push_back("run_" + std::to_string(i));
    launchers.push_back(taken_for_run(pool, runs.back()));
  }
  std::vector<pid_t> used;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    used.push_back(launchers[i]->pid());
    pool.keep_for_run(runs[i], std::move(launchers[i]));
  }
  int found = 0;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    launchers[i] = taken_for_run(pool, runs[i]);
    found += launchers[i]->pid() == used[i] ? 1 : 0;
  }
  CHECK(found == KeptContexts::kFewest);
  for (auto& one : launchers) pool.discard(std::move(one));
}

TEST_CASE(
    "a launcher that its run no longer uses ends, and so do all when their memory is needed") {
  Spawner spawner;
  SandboxConfig config = real_config();
  config.kept_launcher_ms = 0;
  LauncherPool forgetful(config, spawner, 0, "fake");
  std::unique_ptr<LauncherClient> used = taken_for_run(forgetful, "run_a");
  const UniqueFd forgotten(static_cast<int>(::syscall(kPidfdOpen, used->pid(), 0)));
  REQUIRE(forgotten);
  forgetful.keep_for_run("run_a", std::move(used));
  CHECK(ends(forgotten.get()));

  LauncherPool pool(real_config(), spawner, 0, "fake");
  const pid_t needed = kept_pid(pool);
  CHECK(::kill(needed, 0) == 0);
  REQUIRE(pool.end_those_of_runs(soon()));
  CHECK(::kill(needed, 0) != 0);
}
