// A cap on how many of a kind may be open at once.
//
//   Gate streams(64);
//   const ConcurrencyLimiter::Pass pass = streams.enter();
//   if (!pass) refuse();                      // else: the place is free again when `pass` dies
//
// Lock-free, thread-safe. The gate must outlive its passes.
#pragma once

#include <atomic>
#include <utility>

namespace assay {

class ConcurrencyLimiter {
 public:
  class Pass {
   public:
    Pass() = default;
    Pass(Pass&& other) noexcept : gate_(std::exchange(other.gate_, nullptr)) {}
    Pass& operator=(Pass&&) = delete;
    Pass(const Pass&) = delete;
    Pass& operator=(const Pass&) = delete;
    ~Pass() {
      if (gate_ != nullptr) --gate_->inside_;
    }
    explicit operator bool() const { return gate_ != nullptr; }

   private:
    friend class ConcurrencyLimiter;
    explicit Pass(ConcurrencyLimiter* gate) : gate_(gate) {}
    ConcurrencyLimiter* gate_ = nullptr;
  };

  explicit ConcurrencyLimiter(int places) : places_(places) {}
  ConcurrencyLimiter(const ConcurrencyLimiter&) = delete;
  ConcurrencyLimiter& operator=(const ConcurrencyLimiter&) = delete;

  Pass enter() {
    if (inside_.fetch_add(1) < places_) return Pass(this);
    --inside_;
    return {};
  }
  int inside() const { return inside_.load(); }

 private:
  const int places_;
  std::atomic<int> inside_{0};
};

}  // namespace assay
