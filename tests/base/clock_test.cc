#include "base/clock.h"

#include <atomic>
#include <chrono>
#include <stop_token>
#include <thread>

#include "tests/catch.h"

namespace assay {
namespace {

constexpr std::int64_t kMinuteNs = 60'000'000'000;

struct Waiting {
  Mutex mutex;
  Condition changed;
  bool done = false;

  bool wait(const Clock& clock, std::int64_t ns) {
    MutexLock lock(mutex);
    return clock.wait_until(changed, lock, clock.monotonic_ns() + ns, [&] { return done; });
  }
  void finish() {
    {
      const MutexLock lock(mutex);
      done = true;
    }
    changed.notify_all();
  }
};

}  // namespace

TEST_CASE("a wait ends when its condition becomes true, whatever the clock shows") {
  const SystemClock system;
  const ManualClock manual;
  for (const Clock* clock :
       {static_cast<const Clock*>(&system), static_cast<const Clock*>(&manual)}) {
    Waiting waiting;
    std::thread other([&] { waiting.finish(); });
    CHECK(waiting.wait(*clock, kMinuteNs));
    other.join();
  }
}

TEST_CASE("a wait ends when the clock shows its end") {
  Waiting waiting;
  CHECK_FALSE(waiting.wait(SystemClock(), 1'000'000));
  CHECK_FALSE(waiting.wait(SystemClock(), -1));
  ManualClock manual;
  CHECK_FALSE(waiting.wait(manual, 0));
  std::atomic<bool> over = false;
  std::thread other([&] {
    for (; !over; std::this_thread::sleep_for(std::chrono::milliseconds(1)))
      manual.advance_ms(60'000);
  });
  CHECK_FALSE(waiting.wait(manual, kMinuteNs));
  over = true;
  other.join();
}

TEST_CASE("a wait by a manual clock that stands still ends after the same span") {
  Waiting waiting;
  CHECK_FALSE(waiting.wait(ManualClock(), 5'000'000));
}

TEST_CASE("a wait and a pause end when a stop is requested") {
  const SystemClock system;
  const ManualClock manual;
  for (const Clock* clock :
       {static_cast<const Clock*>(&system), static_cast<const Clock*>(&manual)}) {
    std::stop_source stop;
    std::thread other([&] { stop.request_stop(); });
    CHECK_FALSE(clock->pause(std::chrono::minutes(1), stop.get_token()));
    other.join();
    Mutex mutex;
    Condition never;
    MutexLock lock(mutex);
    const std::int64_t until_ns = clock->monotonic_ns() + kMinuteNs;
    CHECK_FALSE(clock->wait_until(never, lock, stop.get_token(), until_ns, [] { return false; }));
    CHECK(clock->pause(std::chrono::milliseconds(1)));
  }
}

}  // namespace assay
