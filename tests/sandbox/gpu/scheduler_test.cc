#include "sandbox/gpu/scheduler.h"

#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <future>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "base/json.h"
#include "tests/base/log_file.h"
#include "tests/catch.h"

using namespace assay;
using namespace assay::sandbox;
using Guard = GpuScheduler::Guard;
using Mode = GpuScheduler::Mode;

namespace {

Deadline at_once() { return Deadline::after_ms(0); }
Deadline long_enough() { return Deadline::after_ms(60'000); }

bool is_refused(const Result<Guard>& guard) {
  return !guard && guard.error().code == ErrorCode::resource_exhausted;
}

/// Threads that wait for the GPU lock. `add` returns once the new thread is in the queue.
class Waiters {
 public:
  explicit Waiters(GpuScheduler& scheduler) : scheduler_(scheduler) {}
  ~Waiters() { join(); }
  Waiters(const Waiters&) = delete;
  Waiters& operator=(const Waiters&) = delete;

  void add(Mode mode) {
    const int before = scheduler_.waiting(mode);
    threads_.emplace_back([this, mode] {
      const Result<Guard> guard = scheduler_.lock(mode, long_enough());
      const std::lock_guard lock(mutex_);
      order_ += "psElh"[static_cast<std::size_t>(mode)];
    });
    REQUIRE(scheduler_.wait_for_waiters(mode, before + 1, long_enough()));
  }
  void join() {
    for (std::thread& thread : threads_) thread.join();
    threads_.clear();
  }
  /// Returns the holders in the order in which they got the lock.
  std::string order() {
    join();
    return order_;
  }

 private:
  GpuScheduler& scheduler_;
  std::mutex mutex_;
  std::string order_;
  std::vector<std::thread> threads_;
};

}  // namespace

TEST_CASE("the log of level trace has a line for each change of the lock") {
  const assay::testing::LogFile file(log::Level::trace, log::Format::json);
  {
    GpuScheduler scheduler({.sharers = 1, .device = "cuda:3"});
    const Result<Guard> guard = scheduler.lock(Mode::exclusive, at_once());
    CHECK(is_refused(scheduler.lock(Mode::prepare, at_once())));
  }
  std::vector<std::string> seen;
  for (const std::string& line : file.lines()) {
    const nlohmann::json one = nlohmann::json::parse(line);
    CHECK(one["level"] == "trace");
    CHECK(one["message"] == "gpu lock");
    CHECK(one["device"] == "cuda:3");
    CHECK(one["at_us"].get<std::int64_t>() > 0);
    seen.push_back(one["mode"].get<std::string>() + " " + one["event"].get<std::string>());
  }
  CHECK(seen == std::vector<std::string>{"exclusive waits", "exclusive holds", "prepare waits",
                                         "prepare gave up", "exclusive released"});
}

TEST_CASE("the lock is shared up to its bound, or held exclusively") {
  GpuScheduler scheduler({.sharers = 2});
  Result<Guard> first = scheduler.lock(Mode::shared, at_once()),
                second = scheduler.lock(Mode::shared, at_once());
  REQUIRE(first);
  REQUIRE(second);
  CHECK(first->mode() == Mode::shared);
  CHECK(is_refused(scheduler.lock(Mode::shared, at_once())));
  CHECK(is_refused(scheduler.lock(Mode::exclusive, at_once())));
  first->release();
  CHECK(scheduler.lock(Mode::shared, at_once()));  // the temporary guard releases the lock at once
  CHECK(is_refused(scheduler.lock(Mode::exclusive, at_once())));
  second->release();
  Result<Guard> timing = scheduler.lock(Mode::exclusive, at_once());
  REQUIRE(timing);
  CHECK(timing->mode() == Mode::exclusive);
  CHECK(is_refused(scheduler.lock(Mode::shared, at_once())));
  *timing = Guard(std::move(*timing));  // moving a guard keeps the lock
  CHECK(is_refused(scheduler.lock(Mode::shared, at_once())));
}

TEST_CASE("a shared request does not overtake an exclusive one that waits") {
  GpuScheduler scheduler({.sharers = 2});
  std::optional<Guard> holder(std::move(*scheduler.lock(Mode::shared, at_once())));
  Waiters waiters(scheduler);
  waiters.add(Mode::exclusive);
  CHECK(is_refused(scheduler.lock(Mode::shared, at_once())));
  holder.reset();
  CHECK(waiters.order() == "E");
  CHECK(scheduler.lock(Mode::shared, at_once()));
}

TEST_CASE("inputs are made beside everything except an exclusive holder") {
  GpuScheduler scheduler({.sharers = 1});
  for (const Mode mode : {Mode::prepare, Mode::shared}) {
    const Result<Guard> other = scheduler.lock(mode, at_once());
    REQUIRE(other);
    const Result<Guard> inputs = scheduler.lock(Mode::prepare, at_once());
    CHECK(inputs);
    CHECK(is_refused(scheduler.lock(Mode::exclusive, at_once())));
  }
  const Result<Guard> timing = scheduler.lock(Mode::exclusive, at_once());
  REQUIRE(timing);
  CHECK(is_refused(scheduler.lock(Mode::prepare, at_once())));
}

TEST_CASE("inputs wait behind an exclusive request that waits") {
  GpuScheduler scheduler({.sharers = 1});
  std::optional<Guard> holder(std::move(*scheduler.lock(Mode::shared, at_once())));
  Waiters waiters(scheduler);
  waiters.add(Mode::exclusive);
  CHECK(is_refused(scheduler.lock(Mode::prepare, at_once())));
  waiters.add(Mode::prepare);
  holder.reset();
  CHECK(waiters.order() == "Ep");
}

TEST_CASE("waiting inputs belong to the batch that comes after the exclusive holders") {
  GpuScheduler scheduler({.sharers = 1});
  std::optional<Guard> first(std::move(*scheduler.lock(Mode::exclusive, at_once())));
  Waiters waiters(scheduler);
  waiters.add(Mode::prepare);
  for (int i = 0; i < GpuScheduler::kExclusiveBatch; ++i) waiters.add(Mode::exclusive);
  first.reset();
  CHECK(waiters.order() == std::string(GpuScheduler::kExclusiveBatch - 1, 'E') + "pE");
}

TEST_CASE("a batch of exclusive holders comes before all shared waiters of that time") {
  GpuScheduler scheduler({.sharers = 2});
  std::optional<Guard> first(std::move(*scheduler.lock(Mode::exclusive, at_once())));
  Waiters waiters(scheduler);
  waiters.add(Mode::shared);
  for (int i = 0; i < GpuScheduler::kExclusiveBatch + 1; ++i) waiters.add(Mode::exclusive);
  waiters.add(Mode::shared);
  first.reset();
  CHECK(waiters.order() == std::string(GpuScheduler::kExclusiveBatch - 1, 'E') + "ssEE");
}

TEST_CASE("a shared request may join the current shared batch, within the join window only") {
  const auto joins = [](std::chrono::milliseconds window) {
    GpuScheduler scheduler({.sharers = 2, .join_window = window});
    std::optional<Guard> exclusive(std::move(*scheduler.lock(Mode::exclusive, at_once())));
    std::future<Result<Guard>> waiting =
        std::async(std::launch::async, [&] { return scheduler.lock(Mode::shared, long_enough()); });
    REQUIRE(scheduler.wait_for_waiters(Mode::shared, 1, long_enough()));
    exclusive.reset();  // the shared batch begins
    std::optional<Guard> shared(std::move(*waiting.get()));
    Waiters waiters(scheduler);
    waiters.add(Mode::exclusive);
    const bool joined = scheduler.lock(Mode::shared, at_once()).has_value();
    shared.reset();
    return joined;
  };
  CHECK(joins(std::chrono::hours(1)));
  CHECK_FALSE(joins(std::chrono::milliseconds(0)));
}

TEST_CASE(
    "inputs and shared requests join while an operator is loaded, but no other loading does") {
  GpuScheduler scheduler({.sharers = 4, .join_window = std::chrono::milliseconds(0)});
  std::optional<Guard> loading(*scheduler.lock(Mode::load, at_once()));
  Waiters waiters(scheduler);
  waiters.add(Mode::exclusive);
  CHECK(scheduler.lock(Mode::prepare, at_once()));
  CHECK(scheduler.lock(Mode::shared, at_once()));
  CHECK(is_refused(scheduler.lock(Mode::load, at_once())));
  loading.reset();
  CHECK(waiters.order() == "E");
}

TEST_CASE("code of a submission runs beside the loading of operators, but beside nothing else") {
  GpuScheduler scheduler({.sharers = 1, .join_window = std::chrono::milliseconds(0)});
  const std::optional<Guard> loading(*scheduler.lock(Mode::load, at_once()));
  {
    const Result<Guard> host = scheduler.lock(Mode::host, at_once());
    REQUIRE(host);
    for (const Mode mode : {Mode::prepare, Mode::shared, Mode::host, Mode::exclusive})
      CHECK(is_refused(scheduler.lock(mode, at_once())));
    CHECK(scheduler.lock(Mode::load, at_once()));
  }
  for (const Mode mode : {Mode::prepare, Mode::shared}) {
    Result<Guard> other = scheduler.lock(mode, at_once());
    REQUIRE(other);
    CHECK(is_refused(scheduler.lock(Mode::host, at_once())));
    Waiters waiters(scheduler);
    waiters.add(Mode::host);
    CHECK(is_refused(scheduler.lock(Mode::prepare, at_once())));
    CHECK(is_refused(scheduler.lock(Mode::shared, at_once())));
    other->release();
    CHECK(waiters.order() == "h");
  }
}

TEST_CASE("a request for the whole GPU that waits for a loading does not stop others") {
  GpuScheduler scheduler({.sharers = 1});
  std::optional<Guard> loading(*scheduler.lock(Mode::load, at_once()));
  Waiters waiters(scheduler);
  waiters.add(Mode::exclusive);
  CHECK(scheduler.lock(Mode::host, at_once()));
  CHECK(scheduler.lock(Mode::prepare, at_once()));
  loading.reset();
  CHECK(waiters.order() == "E");
}

TEST_CASE("requests for the whole GPU keep their order if no operator is loaded") {
  GpuScheduler scheduler({.sharers = 1});
  std::optional<Guard> holder(*scheduler.lock(Mode::shared, at_once()));
  Waiters waiters(scheduler);
  waiters.add(Mode::exclusive);
  waiters.add(Mode::host);
  waiters.add(Mode::exclusive);
  holder.reset();
  CHECK(waiters.order() == "EhE");
}

TEST_CASE("a cancelled waiter leaves the queue") {
  GpuScheduler scheduler({.sharers = 2});
  std::optional<Guard> held(std::move(*scheduler.lock(Mode::shared, at_once())));
  std::stop_source stop;
  std::future<Result<Guard>> timing = std::async(std::launch::async, [&] {
    return scheduler.lock(Mode::exclusive, Deadline::after_ms(60'000, stop.get_token()));
  });
  REQUIRE(scheduler.wait_for_waiters(Mode::exclusive, 1, long_enough()));
  Waiters waiters(scheduler);
  waiters.add(Mode::shared);
  stop.request_stop();
  const Result<Guard> cancelled = timing.get();
  REQUIRE_FALSE(cancelled);
  CHECK(cancelled.error().code == ErrorCode::cancelled);
  CHECK(waiters.order() == "s");
  CHECK(scheduler.waiting(Mode::exclusive) == 0);
}

TEST_CASE("many threads never break the rules of the modes") {
  GpuScheduler scheduler({.sharers = 3});
  std::array<std::atomic<int>, 5> holders = {};
  std::atomic<int> broken{0};
  const auto count = [&](Mode mode) { return holders[static_cast<std::size_t>(mode)].load(); };
  std::vector<std::thread> threads;
  for (int t = 0; t < 8; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < 200; ++i) {
        const auto mode = static_cast<Mode>((t + i) % 5);
        const Result<Guard> guard = scheduler.lock(mode, Deadline::never());
        ++holders[static_cast<std::size_t>(mode)];
        const int others = count(Mode::shared) + count(Mode::prepare);
        const int alone = count(Mode::exclusive) + count(Mode::host);
        const bool together =
            (alone > 0 && others > 0) || (count(Mode::exclusive) > 0 && count(Mode::load) > 0);
        if (count(Mode::shared) > 3 || alone > 1 || together) ++broken;
        --holders[static_cast<std::size_t>(mode)];
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(broken == 0);
}

TEST_CASE("memory slots are as many as the sharers until the size of the memory is known") {
  GpuScheduler scheduler({.sharers = 1});
  const Result<GpuScheduler::MemorySlot> first = scheduler.reserve_memory(at_once());
  REQUIRE(first);
  const Result<GpuScheduler::MemorySlot> refused = scheduler.reserve_memory(at_once());
  REQUIRE_FALSE(refused);
  CHECK(refused.error().message == "the GPU's memory was in use for all of the time allowed");
  scheduler.set_memory_slots(2);
  CHECK(scheduler.reserve_memory(at_once()));
}

TEST_CASE("a memory slot leaves the GPU lock to others") {
  GpuScheduler scheduler({.sharers = 1});
  const Result<GpuScheduler::MemorySlot> slot = scheduler.reserve_memory(at_once());
  CHECK(scheduler.lock(Mode::exclusive, at_once()));
}
