// WorkerPool runs functions on threads that it starts on demand, so that a server without work has
// no threads.
//
//   WorkerPool pool(32, 256);  // at most 32 threads and 256 waiting functions
//   if (!pool.submit(work)) return refuse();
//   const bool is_idle = pool.wait_idle(std::chrono::seconds(5));
//
// The constructor's third argument limits the number of threads that submit() starts, so that a
// burst of short functions does not start one thread for each function. Code that passes this
// argument must call grow() every few milliseconds, because grow() starts the further threads.
//
// Thread-safe. The destructor waits until all functions, queued and running, have returned.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <deque>
#include <functional>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "base/mutex.h"

namespace assay {

class WorkerPool {
 public:
  WorkerPool(std::size_t max_threads, std::size_t max_waiting)
      : WorkerPool(max_threads, max_waiting, max_threads) {}
  WorkerPool(std::size_t max_threads, std::size_t max_waiting, std::size_t eager_threads)
      : max_threads_(max_threads),
        max_waiting_(max_waiting),
        eager_threads_(std::min(eager_threads, max_threads)) {}
  WorkerPool(const WorkerPool&) = delete;
  WorkerPool& operator=(const WorkerPool&) = delete;

  ~WorkerPool() {
    {
      const MutexLock lock(mutex_);
      closing_ = true;
    }
    wake_.notify_all();
    for (std::thread& thread : threads_) thread.join();
  }

  /// Queues a function, which must not throw. Returns false if the queue is full. Also returns
  /// false if the pool has no thread and the machine cannot start another thread.
  bool submit(std::function<void()> work) {
    {
      const MutexLock lock(mutex_);
      if (waiting_.size() >= max_waiting_) return false;
      waiting_.push_back(std::move(work));
      if (waiting_.size() > idle_ && threads_.size() < eager_threads_ && !start_thread() &&
          threads_.empty()) {
        waiting_.pop_back();
        return false;
      }
    }
    wake_.notify_one();
    return true;
  }

  /// Returns the number of functions that wait for a thread.
  std::size_t waiting() const {
    const MutexLock lock(mutex_);
    return waiting_.size();
  }

  /// Starts at most kThreadsPerGrowth threads if the queue is too long. The queue is too long if it
  /// holds more than kPatientCalls times as many functions as left it since the last call of
  /// grow(). Returns true if functions are queued.
  bool grow() {
    const MutexLock lock(mutex_);
    const std::size_t taken = std::exchange(taken_, 0);
    if (taken * kPatientCalls >= waiting_.size()) return !waiting_.empty();
    const std::size_t missing =
        std::min(waiting_.size() > idle_ ? waiting_.size() - idle_ : 0, kThreadsPerGrowth);
    for (std::size_t i = 0; i < missing && threads_.size() < max_threads_; ++i) {
      if (!start_thread()) break;
    }
    return !waiting_.empty();
  }

  /// Waits until no function is queued or running.
  void wait_idle() {
    MutexLock lock(mutex_);
    done_.wait(lock, [this]() ASSAY_REQUIRES(mutex_) { return is_idle(); });
  }

  /// Waits until no function is queued or running. Returns false if that takes longer than
  /// `timeout`.
  bool wait_idle(std::chrono::milliseconds timeout) {
    MutexLock lock(mutex_);
    return done_.wait_for(lock, timeout, [this]() ASSAY_REQUIRES(mutex_) { return is_idle(); });
  }

 private:
  static constexpr std::size_t kPatientCalls = 10;
  static constexpr std::size_t kThreadsPerGrowth = 8;

  bool is_idle() const ASSAY_REQUIRES(mutex_) { return waiting_.empty() && running_ == 0; }

  /// Starts a thread. Returns false if the machine cannot start another thread.
  bool start_thread() ASSAY_REQUIRES(mutex_) {
    try {
      threads_.emplace_back([this] { run(); });
      return true;
    } catch (const std::system_error&) {
      return false;
    }
  }

  void run() {
    MutexLock lock(mutex_);
    while (true) {
      ++idle_;
      wake_.wait(lock, [this]() ASSAY_REQUIRES(mutex_) { return closing_ || !waiting_.empty(); });
      --idle_;
      if (waiting_.empty()) return;
      const std::function<void()> work = std::move(waiting_.front());
      waiting_.pop_front();
      ++taken_;
      ++running_;
      lock.unlock();
      work();
      lock.lock();
      if (--running_ == 0 && waiting_.empty()) done_.notify_all();
    }
  }

  const std::size_t max_threads_;
  const std::size_t max_waiting_;
  const std::size_t eager_threads_;
  mutable Mutex mutex_;
  Condition wake_;
  Condition done_;
  std::deque<std::function<void()>> waiting_ ASSAY_GUARDED_BY(mutex_);
  std::vector<std::thread> threads_ ASSAY_GUARDED_BY(mutex_);
  std::size_t idle_ ASSAY_GUARDED_BY(mutex_) = 0;
  std::size_t running_ ASSAY_GUARDED_BY(mutex_) = 0;
  // The number of functions that were taken from the queue since the last call of grow().
  std::size_t taken_ ASSAY_GUARDED_BY(mutex_) = 0;
  bool closing_ ASSAY_GUARDED_BY(mutex_) = false;
};

}  // namespace assay
