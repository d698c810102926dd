// ConcurrencyLimiter admits at most N callers at the same time. It is like a counting semaphore
// with two differences: it never waits, and the metrics can read how many callers are inside.
//
//   ConcurrencyLimiter streams(64);
//   const ConcurrencyLimiter::Pass pass = streams.enter();
//   if (!pass) return refuse();  // the destructor of a valid pass lets the next caller in
//
// Lock-free, thread-safe. The limiter must outlive its passes.
#pragma once

#include <atomic>
#include <utility>

namespace assay {

class ConcurrencyLimiter {
 public:
  class Pass {
   public:
    Pass() = default;
    Pass(Pass&& other) noexcept : limiter_(std::exchange(other.limiter_, nullptr)) {}
    Pass& operator=(Pass&&) = delete;
    Pass(const Pass&) = delete;
    Pass& operator=(const Pass&) = delete;
    ~Pass() {
      if (limiter_ != nullptr) --limiter_->inside_;
    }
    explicit operator bool() const { return limiter_ != nullptr; }

   private:
    friend class ConcurrencyLimiter;
    explicit Pass(ConcurrencyLimiter* limiter) : limiter_(limiter) {}
    ConcurrencyLimiter* limiter_ = nullptr;
  };

  explicit ConcurrencyLimiter(int places) : places_(places) {}
  ConcurrencyLimiter(const ConcurrencyLimiter&) = delete;
  ConcurrencyLimiter& operator=(const ConcurrencyLimiter&) = delete;

  /// Returns a pass at once. The pass converts to false if N callers are already inside.
  Pass enter() {
    int inside = inside_.load();
    do {
      if (inside >= places_) return {};
    } while (!inside_.compare_exchange_weak(inside, inside + 1));
    return Pass(this);
  }
  /// Returns the number of callers that hold a valid pass.
  int inside() const { return inside_.load(); }

 private:
  const int places_;
  std::atomic<int> inside_{0};
};

}  // namespace assay
