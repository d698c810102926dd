// ShareLimiter admits at most N callers at the same time, and at most M of them with the same name.
// So one name can never take all places. The empty name stands for callers that cannot be told
// apart, so only the limit N applies to it. Use ConcurrencyLimiter if callers have no names.
//
//   ShareLimiter calls({.total = 512, .each = 256});
//   const ShareLimiter::Pass pass = calls.enter("alice");
//   if (!pass) return refuse();  // the destructor of a valid pass lets the next caller in
//
// The places can also be amounts, such as bytes, of which a caller takes more while it works:
//
//   ShareLimiter bytes({.total = 256 << 20, .each = 208 << 20});
//   ShareLimiter::Pass held = bytes.enter("alice", 0);
//   if (held.take(1'000) != ShareLimiter::Refusal::none) return refuse();
//
// enter() and take() never wait. Thread-safe. The limiter must outlive its passes.
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>
#include <utility>

#include "base/mutex.h"

namespace assay {

class ShareLimiter {
 public:
  struct Places {
    std::int64_t total = 0;
    std::int64_t each = 0;  // the most places of one name
  };
  enum class Refusal { none, all_taken, share_taken };

  class Pass {
   public:
    Pass() = default;
    Pass(Pass&& other) noexcept
        : limiter_(std::exchange(other.limiter_, nullptr)),
          name_(std::move(other.name_)),
          amount_(other.amount_),
          refusal_(other.refusal_) {}
    Pass& operator=(Pass&&) = delete;
    Pass(const Pass&) = delete;
    Pass& operator=(const Pass&) = delete;
    ~Pass() {
      if (limiter_ != nullptr) limiter_->leave(name_, amount_);
    }
    explicit operator bool() const { return limiter_ != nullptr; }
    /// Says which limit is reached if the pass is not valid.
    Refusal refusal() const { return refusal_; }
    /// Takes `amount` further places, which the destructor gives back. Takes none and returns the
    /// limit that would be exceeded if there are too few. The pass must be valid.
    Refusal take(std::int64_t amount) {
      const Refusal refusal = limiter_->take(name_, amount);
      if (refusal == Refusal::none) amount_ += amount;
      return refusal;
    }

   private:
    friend class ShareLimiter;
    Pass(ShareLimiter* limiter, std::string name, std::int64_t amount)
        : limiter_(limiter), name_(std::move(name)), amount_(amount) {}
    explicit Pass(Refusal refusal) : refusal_(refusal) {}
    ShareLimiter* limiter_ = nullptr;
    std::string name_;
    std::int64_t amount_ = 0;
    Refusal refusal_ = Refusal::none;
  };

  explicit ShareLimiter(Places places) : places_(places) {}
  ShareLimiter(const ShareLimiter&) = delete;
  ShareLimiter& operator=(const ShareLimiter&) = delete;

  /// Returns a pass at once. The pass converts to false if a limit would be exceeded.
  Pass enter(const std::string& name, std::int64_t amount = 1) {
    const Refusal refusal = take(name, amount);
    return refusal == Refusal::none ? Pass(this, name, amount) : Pass(refusal);
  }
  /// Changes the numbers of places. Valid passes stay valid, even if there are more than that.
  void set_places(Places places) {
    const MutexLock lock(mutex_);
    places_ = places;
  }
  /// Returns the number of places that valid passes hold.
  std::int64_t inside() const {
    const MutexLock lock(mutex_);
    return inside_;
  }

 private:
  Refusal take(const std::string& name, std::int64_t amount) {
    const MutexLock lock(mutex_);
    if (inside_ + amount > places_.total) return Refusal::all_taken;
    const auto known = by_name_.find(name);
    if (!name.empty() && (known == by_name_.end() ? 0 : known->second) + amount > places_.each)
      return Refusal::share_taken;
    inside_ += amount;
    if (amount > 0) by_name_[name] += amount;
    return Refusal::none;
  }

  void leave(const std::string& name, std::int64_t amount) {
    if (amount == 0) return;
    const MutexLock lock(mutex_);
    inside_ -= amount;
    const auto known = by_name_.find(name);
    if ((known->second -= amount) == 0) by_name_.erase(known);
  }

  mutable Mutex mutex_;
  Places places_ ASSAY_GUARDED_BY(mutex_);
  std::int64_t inside_ ASSAY_GUARDED_BY(mutex_) = 0;
  std::unordered_map<std::string, std::int64_t> by_name_ ASSAY_GUARDED_BY(mutex_);
};

}  // namespace assay
