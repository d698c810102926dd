// Tests how many launchers of a LauncherPool start, wait and end.
#include <signal.h>

#include <future>
#include <memory>
#include <stop_token>
#include <vector>

#include "sandbox/pool/launcher_pool.h"
#include "tests/catch.h"
#include "tests/sandbox/pool/launchers.h"

using namespace assay;
using namespace assay::sandbox;
using assay::sandbox::testing::is_reaped;
using assay::sandbox::testing::soon;
using assay::sandbox::testing::StartLog;
using assay::sandbox::testing::taken;

TEST_CASE("twice as many launchers wait as were used lately, and they end if memory is needed") {
  Spawner spawner;
  const StartLog log("spares", 20);
  SandboxConfig config = log.config();
  config.parked_launchers = 1;
  config.spare_launchers = 5;
  config.spare_quiet_ms = 0;
  LauncherPool pool(config, spawner, 0, "fake");
  std::unique_ptr<LauncherClient> first = taken(pool);
  CHECK(log.comes_to(3));  // one was used, so two wait
  std::unique_ptr<LauncherClient> second = taken(pool), third = taken(pool);
  CHECK(log.comes_to(8));  // three were used, and the limit is 5
  for (auto* one : {&first, &second, &third}) pool.retire(std::move(*one));
  REQUIRE(pool.end_those_of_runs(soon()));  // their memory is needed
  CHECK(pool.parked() <= 1);
  CHECK(log.count() == 8);
}

TEST_CASE("no launcher starts in advance of the demand while jobs use launchers") {
  Spawner spawner;
  const StartLog log("busy", 20);
  SandboxConfig config = log.config();
  config.parked_launchers = 1;
  config.spare_launchers = 5;
  config.spare_quiet_ms = 3'600'000;
  LauncherPool pool(config, spawner, 0, "fake");
  std::unique_ptr<LauncherClient> first = taken(pool), second = taken(pool), third = taken(pool);
  CHECK(log.comes_to(4));
  const Deadline deadline = soon();
  while (pool.parked() < 1 && !deadline.over()) ::usleep(1'000);
  REQUIRE(pool.parked() == 1);  // nothing starts now, though six launchers would be wanted
  for (auto* one : {&first, &second, &third}) {
    const pid_t pid = (*one)->pid();
    pool.retire(std::move(*one));
    CHECK(is_reaped(pid));  // a thread ends a launcher only if it may start none
  }
  CHECK(log.count() == 4);
}

TEST_CASE("after a start that failed, launchers that are not needed end and free their memory") {
  Spawner spawner;
  const StartLog log("failing", 1, "exit 1");
  SandboxConfig config = log.config();
  config.parked_launchers = 1;
  LauncherPool pool(config, spawner, 0, "fake");
  std::unique_ptr<LauncherClient> only = taken(pool);
  CHECK(log.comes_to(2));  // the next one is wanted again and again, and never becomes ready
  const pid_t pid = only->pid();
  pool.retire(std::move(only));
  CHECK(is_reaped(pid));
  CHECK(pool.parked() == 0);
}

TEST_CASE("if one launcher fails its check after a fault, no other one from before is used") {
  Spawner spawner;
  LauncherPool pool(assay::sandbox::testing::real_config(), spawner, 0, "fake");
  std::unique_ptr<LauncherClient> of_a = pool.take_for_run("run_a", soon()).value(),
                                  of_b = pool.take_for_run("run_b", soon()).value();
  const pid_t stopped = of_a->pid(), other = of_b->pid();
  pool.keep_for_run("run_a", std::move(of_a));
  pool.keep_for_run("run_b", std::move(of_b));
  REQUIRE(::kill(stopped, SIGSTOP) == 0);  // it answers no check
  pool.invalidate_idle();
  of_a = pool.take_for_run("run_a", Deadline::after_ms(60'000)).value();
  CHECK(of_a->pid() != stopped);
  CHECK(of_a->faults_before() == 1);
  of_b = pool.take_for_run("run_b", soon()).value();
  CHECK(of_b->pid() != other);
  CHECK(of_b->launches() == 0);
  for (auto* one : {&of_a, &of_b}) pool.retire(std::move(*one));
}

TEST_CASE("no more launchers start at a time than launcher_starts says") {
  Spawner spawner;
  const StartLog log("few_starts", 1);
  SandboxConfig config = log.config();
  config.parked_launchers = 1;
  config.launcher_starts = 2;
  LauncherPool pool(config, spawner, 0, "fake");
  std::unique_ptr<LauncherClient> only = taken(pool);
  std::stop_source cancel;
  std::vector<std::future<bool>> waiting;
  for (int i = 0; i < 4; ++i)
    waiting.push_back(std::async(std::launch::async, [&] {
      return pool.take(Deadline::after_ms(60'000, cancel.get_token())).has_value();
    }));
  CHECK(log.comes_to(3));  // the first one, and two that never become ready
  // A thread ends a launcher only if it may start none.
  pool.discard(std::move(only));
  REQUIRE(pool.end_those_of_runs(soon()));
  CHECK(log.count() == 3);
  cancel.request_stop();
  for (std::future<bool>& one : waiting) CHECK_FALSE(one.get());
}
