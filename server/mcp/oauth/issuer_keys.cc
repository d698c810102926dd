#include "server/mcp/oauth/issuer_keys.h"

#include <utility>

#include "base/log.h"

namespace assay::mcp {

bool IssuerKeys::is_fresh() const {
  return keys_ && !expired_ && clock_.monotonic_ns() - loaded_ns_ < limits_.lifetime_ms * kNsPerMs;
}

Result<IssuerKeys::Keys> IssuerKeys::usable_keys() const {
  if (keys_ && clock_.monotonic_ns() - loaded_ns_ < limits_.stale_ms * kNsPerMs) return keys_;
  return fail(ErrorCode::unavailable, "the keys of the token's issuer cannot be read now");
}

void IssuerKeys::begin_load() {
  loading_ = true;
  expired_ = false;
  tried_ns_ = clock_.monotonic_ns();
}

Status IssuerKeys::end_load(Result<JwkSet> loaded) {
  loading_ = false;
  changed_.notify_all();
  if (!loaded) return fail(loaded.error());
  keys_ = std::make_shared<const JwkSet>(std::move(*loaded));
  loaded_ns_ = clock_.monotonic_ns();
  return {};
}

Status IssuerKeys::reload() {
  MutexLock lock(mutex_);
  changed_.wait(lock, [this]() ASSAY_REQUIRES(mutex_) { return !loading_; });
  begin_load();
  lock.unlock();
  Result<JwkSet> loaded = load_();
  lock.lock();
  return end_load(std::move(loaded));
}

void IssuerKeys::expire() {
  const MutexLock lock(mutex_);
  expired_ = true;
  tried_ns_.reset();
}

Result<IssuerKeys::Keys> IssuerKeys::keys_for(const Jwt& jwt) {
  MutexLock lock(mutex_);
  const bool fits = keys_ && keys_->has_key_for(jwt);
  if (fits && (is_fresh() || loading_)) return usable_keys();
  if (loading_) {
    if (waiting_ >= limits_.max_waiting) return usable_keys();
    ++waiting_;
    clock_.wait_until(changed_, lock, clock_.monotonic_ns() + limits_.wait_ms * kNsPerMs,
                      [this]() ASSAY_REQUIRES(mutex_) { return !loading_; });
    --waiting_;
    return usable_keys();
  }
  if (tried_ns_ && clock_.monotonic_ns() - *tried_ns_ < limits_.reload_ms * kNsPerMs)
    return usable_keys();
  begin_load();
  lock.unlock();
  Result<JwkSet> loaded = load_();
  lock.lock();
  if (const Status ended = end_load(std::move(loaded)); !ended)
    log::warning("the keys of an issuer of tokens cannot be read",
                 {{"error", ended.error().message}});
  return usable_keys();
}

}  // namespace assay::mcp
