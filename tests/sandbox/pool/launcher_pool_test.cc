#include "sandbox/pool/launcher_pool.h"

#include <signal.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <filesystem>
#include <fstream>
#include <future>
#include <memory>
#include <string>
#include <thread>

#include "sandbox/wire/memfd.h"
#include "tests/catch.h"
#include "tests/sandbox/device/device_fixture.h"

using namespace assay;
using namespace assay::sandbox;
using assay::sandbox::testing::real_config;
using assay::sandbox::testing::SickSwitch;

namespace {

Deadline soon() { return Deadline::after_ms(10'000); }

std::unique_ptr<LauncherClient> taken(LauncherPool& nursery) {
  Result<std::unique_ptr<LauncherClient>> launcher = nursery.take(soon());
  REQUIRE(launcher);
  REQUIRE((*launcher)->alive());
  return std::move(*launcher);
}

std::unique_ptr<LauncherClient> taken_for_oracle(LauncherPool& nursery) {
  Result<std::unique_ptr<LauncherClient>> launcher = nursery.take_for_oracle(soon());
  REQUIRE(launcher);
  REQUIRE((*launcher)->alive());
  return std::move(*launcher);
}

std::unique_ptr<LauncherClient> taken_for_run(LauncherPool& nursery, const std::string& run) {
  Result<std::unique_ptr<LauncherClient>> launcher = nursery.take_for_run(run, soon());
  REQUIRE(launcher);
  REQUIRE((*launcher)->alive());
  return std::move(*launcher);
}

/// Of a launcher that a run has used and given back.
pid_t kept_pid(LauncherPool& nursery) {
  std::unique_ptr<LauncherClient> used = taken_for_run(nursery, "run_a");
  const pid_t pid = used->pid();
  nursery.keep_for_run("run_a", std::move(used));
  return pid;
}

}  // namespace

TEST_CASE("parked launchers are handed out at once, and more are started for who waits") {
  Spawner spawner;
  LauncherPool nursery(real_config(), spawner, 0, "fake");
  const Result<LauncherDevice> device = nursery.ready(soon());
  REQUIRE(device);
  CHECK(device->name == "Fake GPU");
  CHECK(nursery.device()->name == "Fake GPU");
  std::vector<std::unique_ptr<LauncherClient>> all;
  for (int i = 0; i < 4; ++i) all.push_back(taken(nursery));
  for (auto& one : all) nursery.discard(std::move(one));
}

TEST_CASE("launchers are made ready one after the other, and for those who wait at once") {
  Spawner spawner;
  SandboxConfig config = real_config();
  config.parked_launchers = 3;
  const std::filesystem::path folder = std::filesystem::path(config.state_dir) / "starts";
  std::filesystem::remove_all(folder);
  std::filesystem::create_directories(folder);
  const std::filesystem::path script = folder / "never.sh";  // a launcher that is never ready
  std::ofstream(script) << "#!/bin/sh\ntouch " << folder.string() << "/started.$$\nexec sleep 60\n";
  std::filesystem::permissions(script, std::filesystem::perms::owner_all);
  config.launcher = script.string();
  const auto started = [&] {
    return std::count_if(std::filesystem::directory_iterator(folder), {},
                         [](const auto& file) { return file.path().stem() == "started"; });
  };
  const auto comes_to = [&](std::ptrdiff_t count) {
    for (int i = 0; i < 500 && started() < count; ++i)
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    std::this_thread::sleep_for(
        std::chrono::milliseconds(100));  // another start would have begun by now
    return started() == count;
  };
  LauncherPool nursery(config, spawner, 0, "fake");
  CHECK(comes_to(1));
  std::stop_source cancel;
  const auto wait_for_one = [&] {
    return nursery.take(Deadline::after_ms(10'000, cancel.get_token())).has_value();
  };
  std::future<bool> first = std::async(std::launch::async, wait_for_one),
                    second = std::async(std::launch::async, wait_for_one);
  CHECK(comes_to(2));
  cancel.request_stop();
  CHECK_FALSE(first.get());
  CHECK_FALSE(second.get());
}

TEST_CASE("launchers that cannot start are an error that says why, and a cancelled wait ends") {
  Spawner spawner;
  SandboxConfig config = real_config();
  config.launcher = "/bin/false";
  LauncherPool nursery(config, spawner, 0, "fake");
  const auto launcher = nursery.take(soon());
  REQUIRE_FALSE(launcher);
  CHECK(launcher.error().message.find("the launcher did not become ready") != std::string::npos);
  const auto device = nursery.ready(soon());
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

TEST_CASE("after a fault no launcher from before it is handed out") {
  Spawner spawner;
  LauncherPool nursery(real_config(), spawner, 0, "fake");
  REQUIRE(nursery.ready(soon()));
  std::unique_ptr<LauncherClient> used = taken(nursery);
  nursery.invalidate_idle();
  nursery.discard(std::move(used));
  nursery.discard(taken(nursery));  // alive, so started since
  CHECK_FALSE(nursery.last_start_error());
}

TEST_CASE("the launcher of an oracle is kept for the next one, and for nobody else") {
  Spawner spawner;
  LauncherPool nursery(real_config(), spawner, 0, "fake");
  std::unique_ptr<LauncherClient> first = taken_for_oracle(nursery),
                                  second = taken_for_oracle(nursery);
  const LauncherClient* const kept = first.get();
  nursery.keep(std::move(first));
  nursery.keep(std::move(second));  // one is enough
  std::vector<std::unique_ptr<LauncherClient>> all;
  for (int i = 0; i < 4; ++i) all.push_back(taken(nursery));
  for (auto& one : all) {
    CHECK(one.get() != kept);
    nursery.discard(std::move(one));
  }
  std::unique_ptr<LauncherClient> again = taken_for_oracle(nursery);
  CHECK(again.get() == kept);
  nursery.discard(std::move(again));
}

TEST_CASE("a launcher is not kept after a fault during its work, nor handed out after one since") {
  Spawner spawner;
  LauncherPool nursery(real_config(), spawner, 0, "fake");
  std::unique_ptr<LauncherClient> during = taken_for_oracle(nursery);
  nursery.invalidate_idle();
  CHECK(during->alive());  // it goes on for its own submission
  nursery.keep(std::move(during));
  std::unique_ptr<LauncherClient> since = taken_for_oracle(nursery);
  CHECK(since->faults_before() == 1);
  nursery.keep(std::move(since));
  nursery.invalidate_idle();
  std::unique_ptr<LauncherClient> last = taken_for_oracle(nursery);
  CHECK(last->faults_before() == 2);
  last->kill();
  while (last->alive()) std::this_thread::yield();  // the kernel ends it a moment after the signal
  nursery.keep(std::move(last));                    // it died while nobody used it
  nursery.discard(taken_for_oracle(nursery));
}

TEST_CASE("a launcher is kept for so many launches") {
  Spawner spawner;
  LauncherPool nursery(real_config(), spawner, 0, "fake");
  std::unique_ptr<LauncherClient> launcher = taken_for_oracle(nursery);
  LaunchRequest request;
  request.case_id = "none";
  request.output_bytes = 64;
  const Result<UniqueFd> outputs = create_memfd("assay-test", 64);
  REQUIRE(outputs);
  while (launcher->launches() < LauncherPool::kMostKeptLaunches) {
    nursery.keep(std::move(launcher));
    launcher = taken_for_oracle(nursery);
    REQUIRE(std::get<LaunchFailure>(
                launcher->launch(request, "no plan", {outputs->get()}, soon()).value())
                .kind == ErrorKind::invalid_plan);
  }
  nursery.keep(std::move(launcher));
  launcher = taken_for_oracle(nursery);
  CHECK(launcher->launches() == 0);
  nursery.discard(std::move(launcher));
}

TEST_CASE("a device that fails its check is sick until a launcher finds it well") {
  Spawner spawner;
  const SickSwitch device("nursery");
  LauncherPool nursery(device.config(), spawner, 0, "fake");
  nursery.discard(taken(nursery));
  device.set(true);
  nursery.invalidate_idle();
  const auto refused = nursery.take(soon());
  REQUIRE_FALSE(refused);
  REQUIRE(nursery.last_start_error());
  CHECK(nursery.last_start_error()->find("the device fails its check") != std::string::npos);
  device.set(false);
  nursery.discard(taken(nursery));
  CHECK_FALSE(nursery.last_start_error());
}

TEST_CASE("a run goes on with the launcher that it used, and no other run does") {
  Spawner spawner;
  LauncherPool nursery(real_config(), spawner, 0, "fake");
  std::unique_ptr<LauncherClient> first = taken_for_run(nursery, "run_a");
  const LauncherClient* const kept = first.get();
  nursery.keep_for_run("run_a", std::move(first));
  std::unique_ptr<LauncherClient> other = taken_for_run(nursery, "run_b"), nobodys = taken(nursery),
                                  oracles = taken_for_oracle(nursery);
  CHECK(other.get() != kept);
  CHECK(nobodys.get() != kept);
  CHECK(oracles.get() != kept);
  std::unique_ptr<LauncherClient> again = taken_for_run(nursery, "run_a");
  CHECK(again.get() == kept);
  std::unique_ptr<LauncherClient> beside =
      taken_for_run(nursery, "run_a");  // two jobs of a run at once
  CHECK(beside.get() != kept);
  for (auto* one : {&other, &nobodys, &oracles, &again, &beside}) nursery.discard(std::move(*one));
}

TEST_CASE("so many launchers are kept for runs, the oldest end first, and none after a fault") {
  Spawner spawner;
  SandboxConfig config = real_config();
  config.kept_launchers = 1;
  LauncherPool nursery(config, spawner, 0, "fake");
  std::unique_ptr<LauncherClient> first = taken_for_run(nursery, "run_a"),
                                  second = taken_for_run(nursery, "run_b");
  const LauncherClient* const kept = second.get();
  const int before = second->faults_before();
  nursery.keep_for_run("run_a", std::move(first));
  nursery.keep_for_run("run_b", std::move(second));
  std::unique_ptr<LauncherClient> new_one = taken_for_run(nursery, "run_a"),
                                  old_one = taken_for_run(nursery, "run_b");
  CHECK(old_one.get() == kept);
  nursery.keep_for_run("run_b", std::move(old_one));
  nursery.invalidate_idle();
  old_one = taken_for_run(nursery, "run_b");
  CHECK(old_one->faults_before() == before + 1);  // started since
  nursery.discard(std::move(old_one));
  nursery.keep_for_run("run_a", std::move(new_one));  // from before the fault: ended instead
  new_one = taken_for_run(nursery, "run_a");
  CHECK(new_one->faults_before() == before + 1);
  nursery.discard(std::move(new_one));
}

TEST_CASE("a launcher that its run has forgotten ends, and so do all when their memory is needed") {
  Spawner spawner;
  SandboxConfig config = real_config();
  config.kept_launcher_ms = 0;
  LauncherPool forgetful(config, spawner, 0, "fake");
  const pid_t forgotten = kept_pid(forgetful);
  bool ended = false;
  for (int i = 0; i < 100 && !ended; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    ended = ::kill(forgotten, 0) != 0;
  }
  CHECK(ended);

  LauncherPool nursery(real_config(), spawner, 0, "fake");
  const pid_t needed = kept_pid(nursery);
  CHECK(::kill(needed, 0) == 0);
  REQUIRE(nursery.end_those_of_runs(soon()));
  CHECK(::kill(needed, 0) != 0);
}
