#include "sandbox/gpu/gpu_lock.h"

#include <atomic>
#include <chrono>
#include <future>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "tests/catch.h"

using namespace assay;
using namespace assay::sandbox;

namespace {

constexpr std::int64_t kSoonMs = 50;

bool is_refused(Result<GpuLock::Hold> hold) {
  return !hold && hold.error().code == ErrorCode::resource_exhausted;
}

}  // namespace

TEST_CASE("a GPU is shared up to its bound, and alone means alone") {
  GpuLock lease(2);
  Result<GpuLock::Hold> first = lease.share(Deadline::never()),
                        second = lease.share(Deadline::never());
  REQUIRE(first);
  REQUIRE(second);
  CHECK(is_refused(lease.share(Deadline::after_ms(kSoonMs))));
  CHECK(is_refused(lease.alone(Deadline::after_ms(kSoonMs))));
  first->release();
  CHECK(lease.share(Deadline::after_ms(kSoonMs)));  // and given back at once
  CHECK(is_refused(lease.alone(Deadline::after_ms(kSoonMs))));
  second->release();
  Result<GpuLock::Hold> timing = lease.alone(Deadline::after_ms(kSoonMs));
  REQUIRE(timing);
  CHECK(timing->alone());
  CHECK(is_refused(lease.share(Deadline::after_ms(kSoonMs))));
  *timing = GpuLock::Hold(std::move(*timing));  // moving keeps it
  CHECK(is_refused(lease.share(Deadline::after_ms(kSoonMs))));
}

TEST_CASE("who waits to be alone is not overtaken by those who would share") {
  GpuLock lease(2);
  std::optional<GpuLock::Hold> sharing(std::move(*lease.share(Deadline::never())));
  std::atomic<bool> timing_over{false};
  std::future<void> timing = std::async(std::launch::async, [&] {
    Result<GpuLock::Hold> hold = lease.alone(Deadline::never());
    timing_over = true;
  });
  // Until it is in the queue a later sharer gets in; from then on it waits.
  while (lease.share(Deadline::after_ms(1))) std::this_thread::yield();
  CHECK_FALSE(timing_over);
  sharing.reset();
  timing.get();
  CHECK(lease.share(Deadline::after_ms(kSoonMs)));
}

TEST_CASE(
    "some have the GPU alone one after the other, then all sharers that wait have their turn") {
  GpuLock lease(2);
  std::optional<GpuLock::Hold> first(std::move(*lease.alone(Deadline::never())));
  std::mutex mutex;
  std::string order;
  std::vector<std::thread> threads;
  std::atomic<int> began{0};
  const auto come = [&](char who, bool alone) {
    threads.emplace_back([&, who, alone] {
      ++began;
      Result<GpuLock::Hold> hold =
          alone ? lease.alone(Deadline::never()) : lease.share(Deadline::never());
      const std::lock_guard lock(mutex);
      order += who;
    });
    // It is in the queue when it has begun and some time has passed.
    while (began < static_cast<int>(threads.size())) std::this_thread::yield();
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  };
  come('s', false);
  for (int i = 0; i < GpuLock::kAloneInRow + 1; ++i) come('A', true);
  come('s', false);
  first.reset();
  for (std::thread& thread : threads) thread.join();
  CHECK(order == std::string(GpuLock::kAloneInRow - 1, 'A') + "ssAA");
}

TEST_CASE("a sharer may join the others' turn for a moment, though somebody waits to be alone") {
  const auto joins = [](std::chrono::milliseconds moment) {
    GpuLock lease(2, moment);
    std::optional<GpuLock::Hold> alone(std::move(*lease.alone(Deadline::never())));
    std::future<Result<GpuLock::Hold>> waiting =
        std::async(std::launch::async, [&] { return lease.share(Deadline::never()); });
    alone.reset();  // the sharers' turn begins
    std::optional<GpuLock::Hold> sharing(std::move(*waiting.get()));
    std::stop_source cancel;
    std::future<bool> timing = std::async(std::launch::async, [&] {
      return lease.alone(Deadline::after_ms(60'000, cancel.get_token())).has_value();
    });
    std::this_thread::sleep_for(std::chrono::milliseconds(20));  // it is in the queue
    const bool joined = lease.share(Deadline::after_ms(kSoonMs)).has_value();
    cancel.request_stop();
    CHECK_FALSE(timing.get());
    return joined;
  };
  CHECK(joins(std::chrono::hours(1)));
  CHECK_FALSE(joins(std::chrono::milliseconds(0)));
}

TEST_CASE("one who stops waiting leaves the queue to the others") {
  GpuLock lease(1);
  Result<GpuLock::Hold> held = lease.share(Deadline::never());
  std::stop_source cancel;
  cancel.request_stop();
  const Result<GpuLock::Hold> cancelled =
      lease.alone(Deadline::after_ms(10'000, cancel.get_token()));
  REQUIRE_FALSE(cancelled);
  CHECK(cancelled.error().code == ErrorCode::cancelled);
  held->release();
  CHECK(lease.share(Deadline::after_ms(kSoonMs)));
}

TEST_CASE("many threads: never more than the bound, never anybody beside one who is alone") {
  GpuLock lease(3);
  std::atomic<int> sharing{0}, alone{0}, broken{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 6; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < 200; ++i) {
        const bool wants_alone = (t + i) % 5 == 0;
        Result<GpuLock::Hold> hold =
            wants_alone ? lease.alone(Deadline::never()) : lease.share(Deadline::never());
        (wants_alone ? alone : sharing)++;
        if (sharing > 3 || alone > 1 || (alone == 1 && sharing > 0)) ++broken;
        (wants_alone ? alone : sharing)--;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(broken == 0);
}
