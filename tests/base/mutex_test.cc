#include "base/mutex.h"

#include <future>
#include <thread>

#include "tests/catch.h"

namespace assay {
namespace {

class Counter {
 public:
  void add() {
    {
      const MutexLock lock(mutex_);
      ++count_;
    }
    changed_.notify_all();
  }
  bool wait_for(int wanted, std::stop_token stop) {
    MutexLock lock(mutex_);
    return changed_.wait(lock, std::move(stop),
                         [&]() ASSAY_REQUIRES(mutex_) { return count_ >= wanted; });
  }

 private:
  Mutex mutex_;
  Condition changed_;
  int count_ ASSAY_GUARDED_BY(mutex_) = 0;
};

/// Returns true if the mutex was free. Afterwards the mutex is free again.
bool try_once(Mutex& mutex) {
  if (!mutex.try_lock()) return false;
  mutex.unlock();
  return true;
}

TEST_CASE("a condition wakes the thread that waits for it") {
  Counter counter;
  std::jthread other([&] {
    counter.add();
    counter.add();
  });
  CHECK(counter.wait_for(2, {}));
}

TEST_CASE("a requested stop ends the wait, and the predicate is still false") {
  Counter counter;
  std::stop_source stop;
  std::jthread other([&] { stop.request_stop(); });
  CHECK_FALSE(counter.wait_for(1, stop.get_token()));
}

TEST_CASE("a lock can be released and taken again") {
  Mutex mutex;
  MutexLock lock(mutex);
  CHECK_FALSE(std::async(std::launch::async, [&] { return try_once(mutex); }).get());
  lock.unlock();
  CHECK(std::async(std::launch::async, [&] { return try_once(mutex); }).get());
  lock.lock();
}

}  // namespace
}  // namespace assay
