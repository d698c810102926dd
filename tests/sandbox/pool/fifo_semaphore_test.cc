#include "sandbox/pool/fifo_semaphore.h"

#include <future>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "tests/catch.h"

using namespace assay;
using namespace assay::sandbox;
using Slot = FifoSemaphore::Slot;

namespace {

Deadline at_once() { return Deadline::after_ms(0); }
Deadline long_enough() { return Deadline::after_ms(60'000); }

}  // namespace

TEST_CASE(
    "a semaphore deals out its number of slots, and at the deadline reports that they are in use") {
  FifoSemaphore semaphore(2, "busy");
  Result<Slot> first = semaphore.acquire(at_once()), second = semaphore.acquire(at_once());
  REQUIRE(first);
  REQUIRE(second);
  const Result<Slot> third = semaphore.acquire(at_once());
  REQUIRE_FALSE(third);
  CHECK(third.error().code == ErrorCode::resource_exhausted);
  CHECK(third.error().message == "busy");
  *first = std::move(*second);  // the move releases the first slot and keeps the second
  CHECK(semaphore.acquire(at_once()));
  semaphore.set_slots(1);
  CHECK_FALSE(semaphore.acquire(at_once()));
  first->release();
  CHECK(semaphore.acquire(at_once()));
}

TEST_CASE("waiters of a semaphore are served in the order of their arrival") {
  FifoSemaphore semaphore(1, "busy");
  std::optional<Slot> held(std::move(*semaphore.acquire(at_once())));
  std::mutex mutex;
  std::string order;
  std::vector<std::jthread> threads;
  for (const char name : {'a', 'b', 'c', 'd'}) {
    threads.emplace_back([&, name] {
      const Result<Slot> slot = semaphore.acquire(long_enough());
      const std::lock_guard lock(mutex);
      order += name;
    });
    REQUIRE(semaphore.wait_for_waiters(static_cast<int>(threads.size()), long_enough()));
  }
  held.reset();
  threads.clear();
  CHECK(order == "abcd");
}

TEST_CASE("a waiter that is cancelled leaves the semaphore's queue to the others") {
  FifoSemaphore semaphore(1, "busy");
  std::optional<Slot> held(std::move(*semaphore.acquire(at_once())));
  std::stop_source stop;
  std::future<Result<Slot>> cancelled = std::async(std::launch::async, [&] {
    return semaphore.acquire(Deadline::after_ms(60'000, stop.get_token()));
  });
  REQUIRE(semaphore.wait_for_waiters(1, long_enough()));
  std::future<Result<Slot>> next =
      std::async(std::launch::async, [&] { return semaphore.acquire(long_enough()); });
  REQUIRE(semaphore.wait_for_waiters(2, long_enough()));
  stop.request_stop();
  CHECK(cancelled.get().error().code == ErrorCode::cancelled);
  CHECK(semaphore.waiting() == 1);
  CHECK(semaphore.held() == 1);
  held.reset();
  CHECK(next.get());
}

TEST_CASE("all slots are taken when nobody holds one, and later callers wait for them") {
  FifoSemaphore semaphore(2, "busy");
  std::optional<Slot> held(std::move(*semaphore.acquire(at_once())));
  CHECK_FALSE(semaphore.acquire_all(at_once()));
  std::future<Result<Slot>> all =
      std::async(std::launch::async, [&] { return semaphore.acquire_all(long_enough()); });
  REQUIRE(semaphore.wait_for_waiters(1, long_enough()));
  CHECK_FALSE(semaphore.acquire(at_once()));  // a slot is free, but another call waits longer
  held.reset();
  Result<Slot> taken = all.get();
  REQUIRE(taken);
  CHECK_FALSE(semaphore.acquire(at_once()));
  std::optional<Slot> moved(std::move(*taken));
  CHECK_FALSE(semaphore.acquire(at_once()));
  moved.reset();
  const Result<Slot> one = semaphore.acquire(at_once()), other = semaphore.acquire(at_once());
  CHECK(one);
  CHECK(other);
  CHECK_FALSE(semaphore.acquire(at_once()));
}
