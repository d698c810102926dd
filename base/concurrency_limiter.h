// ConcurrencyLimiter lets at most N callers in at once. It is like a counting semaphore, but it
// never waits, and the metrics can read the number of passes in use.
//
//   ConcurrencyLimiter streams(64);
//   const ConcurrencyLimiter::Pass pass = streams.enter();
//   if (!pass) return refuse();  // the destructor of a valid pass frees its place
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

  /// Returns a pass that is false if all places are taken.
  Pass enter() {
    if (inside_.fetch_add(1) < places_) return Pass(this);
    --inside_;
    return {};
  }
  /// The number of passes in use.
  int inside() const { return inside_.load(); }

 private:
  const int places_;
  std::atomic<int> inside_{0};
};

}  // namespace assay
