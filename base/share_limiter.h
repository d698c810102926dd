// ShareLimiter admits at most N callers at the same time, and at most M of them with the same name.
// So one name can never take all places. The empty name stands for callers that cannot be told
// apart, so only the limit N applies to it. Use ConcurrencyLimiter if callers have no names.
//
//   ShareLimiter calls({.total = 512, .each = 256});
//   const ShareLimiter::Pass pass = calls.enter("alice");
//   if (!pass) return refuse();  // the destructor of a valid pass lets the next caller in
//
// enter() never waits. Thread-safe. The limiter must outlive its passes.
#pragma once

#include <string>
#include <unordered_map>
#include <utility>

#include "base/mutex.h"

namespace assay {

class ShareLimiter {
 public:
  struct Places {
    int total = 0;
    int each = 0;  // the most places of one name
  };
  enum class Refusal { none, all_taken, share_taken };

  class Pass {
   public:
    Pass() = default;
    Pass(Pass&& other) noexcept
        : limiter_(std::exchange(other.limiter_, nullptr)),
          name_(std::move(other.name_)),
          refusal_(other.refusal_) {}
    Pass& operator=(Pass&&) = delete;
    Pass(const Pass&) = delete;
    Pass& operator=(const Pass&) = delete;
    ~Pass() {
      if (limiter_ != nullptr) limiter_->leave(name_);
    }
    explicit operator bool() const { return limiter_ != nullptr; }
    /// Says which limit is reached if the pass is not valid.
    Refusal refusal() const { return refusal_; }

   private:
    friend class ShareLimiter;
    Pass(ShareLimiter* limiter, std::string name) : limiter_(limiter), name_(std::move(name)) {}
    explicit Pass(Refusal refusal) : refusal_(refusal) {}
    ShareLimiter* limiter_ = nullptr;
    std::string name_;
    Refusal refusal_ = Refusal::none;
  };

  explicit ShareLimiter(Places places) : places_(places) {}
  ShareLimiter(const ShareLimiter&) = delete;
  ShareLimiter& operator=(const ShareLimiter&) = delete;

  /// Returns a pass at once. The pass converts to false if a limit is reached.
  Pass enter(const std::string& name) {
    const MutexLock lock(mutex_);
    if (inside_ >= places_.total) return Pass(Refusal::all_taken);
    const auto known = by_name_.find(name);
    if (!name.empty() && (known == by_name_.end() ? 0 : known->second) >= places_.each)
      return Pass(Refusal::share_taken);
    ++inside_;
    ++by_name_[name];
    return Pass(this, name);
  }
  /// Returns the number of callers that hold a valid pass.
  int inside() const {
    const MutexLock lock(mutex_);
    return inside_;
  }

 private:
  void leave(const std::string& name) {
    const MutexLock lock(mutex_);
    --inside_;
    const auto known = by_name_.find(name);
    if (--known->second == 0) by_name_.erase(known);
  }

  const Places places_;
  mutable Mutex mutex_;
  int inside_ ASSAY_GUARDED_BY(mutex_) = 0;
  std::unordered_map<std::string, int> by_name_ ASSAY_GUARDED_BY(mutex_);
};

}  // namespace assay
