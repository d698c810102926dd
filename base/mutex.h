// Defines a mutex whose use Clang checks at compile time. Annotations say which members the mutex
// guards and which functions need the mutex locked.
//
//   class Counter {
//    public:
//     void add() {
//       const MutexLock lock(mutex_);
//       ++count_;
//     }
//
//    private:
//     Mutex mutex_;
//     int count_ ASSAY_GUARDED_BY(mutex_) = 0;
//   };
//
// The Clang build uses -Wthread-safety and -Werror, so a read of `count_` without the lock does not
// compile. GCC ignores the annotations. The names and the meaning of the annotations are those of
// Clang's "Thread Safety Analysis".
#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <stop_token>
#include <utility>

#if defined(__clang__)
#define ASSAY_THREAD_ANNOTATION(x) __attribute__((x))
#else
#define ASSAY_THREAD_ANNOTATION(x)
#endif

#define ASSAY_CAPABILITY(name) ASSAY_THREAD_ANNOTATION(capability(name))
#define ASSAY_SCOPED_CAPABILITY ASSAY_THREAD_ANNOTATION(scoped_lockable)
#define ASSAY_GUARDED_BY(mutex) ASSAY_THREAD_ANNOTATION(guarded_by(mutex))
#define ASSAY_PT_GUARDED_BY(mutex) ASSAY_THREAD_ANNOTATION(pt_guarded_by(mutex))
#define ASSAY_REQUIRES(...) ASSAY_THREAD_ANNOTATION(requires_capability(__VA_ARGS__))
#define ASSAY_EXCLUDES(...) ASSAY_THREAD_ANNOTATION(locks_excluded(__VA_ARGS__))
#define ASSAY_ACQUIRE(...) ASSAY_THREAD_ANNOTATION(acquire_capability(__VA_ARGS__))
#define ASSAY_TRY_ACQUIRE(...) ASSAY_THREAD_ANNOTATION(try_acquire_capability(__VA_ARGS__))
#define ASSAY_RELEASE(...) ASSAY_THREAD_ANNOTATION(release_capability(__VA_ARGS__))
#define ASSAY_NO_THREAD_SAFETY_ANALYSIS ASSAY_THREAD_ANNOTATION(no_thread_safety_analysis)

namespace assay {

class ASSAY_CAPABILITY("mutex") Mutex {
 public:
  Mutex() = default;
  Mutex(const Mutex&) = delete;
  Mutex& operator=(const Mutex&) = delete;

  void lock() ASSAY_ACQUIRE() { mutex_.lock(); }
  void unlock() ASSAY_RELEASE() { mutex_.unlock(); }
  bool try_lock() ASSAY_TRY_ACQUIRE(true) { return mutex_.try_lock(); }

 private:
  std::mutex mutex_;
};

/// Locks the mutex for the lifetime of this object, except between unlock() and lock(). Clang
/// checks the calls of unlock() and lock() too.
class ASSAY_SCOPED_CAPABILITY MutexLock {
 public:
  explicit MutexLock(Mutex& mutex) ASSAY_ACQUIRE(mutex) : lock_(mutex) {}
  ~MutexLock() ASSAY_RELEASE() = default;
  MutexLock(const MutexLock&) = delete;
  MutexLock& operator=(const MutexLock&) = delete;

  void lock() ASSAY_ACQUIRE() ASSAY_NO_THREAD_SAFETY_ANALYSIS { lock_.lock(); }
  void unlock() ASSAY_RELEASE() ASSAY_NO_THREAD_SAFETY_ANALYSIS { lock_.unlock(); }

 private:
  friend class Condition;
  std::unique_lock<Mutex> lock_;
};

/// A condition variable for Mutex. The caller of a wait holds `lock`, and holds it again when the
/// wait returns. Clang does not see that a predicate runs with the mutex locked. So a predicate
/// that reads guarded members declares that it needs the mutex:
///
///   ready_.wait(lock, [&]() ASSAY_REQUIRES(mutex_) { return count_ > 0; });
class Condition {
 public:
  void notify_one() { condition_.notify_one(); }
  void notify_all() { condition_.notify_all(); }

  template <typename Predicate>
  void wait(MutexLock& lock, Predicate predicate) {
    condition_.wait(lock.lock_, std::move(predicate));
  }
  /// Waits until the predicate is true or `stop` is requested. Returns the predicate's last value.
  template <typename Predicate>
  bool wait(MutexLock& lock, std::stop_token stop, Predicate predicate) {
    return condition_.wait(lock.lock_, std::move(stop), std::move(predicate));
  }
  template <typename Clock, typename Duration, typename Predicate>
  bool wait_until(MutexLock& lock, const std::chrono::time_point<Clock, Duration>& until,
                  Predicate predicate) {
    return condition_.wait_until(lock.lock_, until, std::move(predicate));
  }
  template <typename Clock, typename Duration, typename Predicate>
  bool wait_until(MutexLock& lock, std::stop_token stop,
                  const std::chrono::time_point<Clock, Duration>& until, Predicate predicate) {
    return condition_.wait_until(lock.lock_, std::move(stop), until, std::move(predicate));
  }
  template <typename Rep, typename Period, typename Predicate>
  bool wait_for(MutexLock& lock, const std::chrono::duration<Rep, Period>& duration,
                Predicate predicate) {
    return condition_.wait_for(lock.lock_, duration, std::move(predicate));
  }
  template <typename Rep, typename Period, typename Predicate>
  bool wait_for(MutexLock& lock, std::stop_token stop,
                const std::chrono::duration<Rep, Period>& duration, Predicate predicate) {
    return condition_.wait_for(lock.lock_, std::move(stop), duration, std::move(predicate));
  }

 private:
  std::condition_variable_any condition_;
};

}  // namespace assay
