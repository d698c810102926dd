// IssuerKeys keeps the public keys of one issuer. It loads them when a token needs them, and loads
// them again when they are old or when a token names a key that is not among them.
//
//   IssuerKeys keys([] { return JwkSet::parse(R"({"keys": []})"); }, {});
//   const auto now = keys.keys_for(jwt);  // unavailable: the issuer does not answer
//   if (now && (*now)->verify(jwt)) show("signed by the issuer");
//
// A client cannot make the server load keys often: between two loads there are at least
// KeyLimits::reload_ms. One thread loads, and the other threads that need the result wait for it.
// Thread-safe.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>

#include "base/clock.h"
#include "base/mutex.h"
#include "base/result.h"
#include "server/mcp/oauth/jwk_set.h"

namespace assay::mcp {

struct KeyLimits {
  /// The age in milliseconds at which keys are loaded again.
  std::int64_t lifetime_ms = 600'000;
  /// The shortest time in milliseconds between two loads.
  std::int64_t reload_ms = 10'000;
  /// If the issuer does not answer, its keys stay in use up to this age in milliseconds.
  std::int64_t stale_ms = 86'400'000;
  /// The maximum number of requests that wait for a load. Further requests are refused.
  int max_waiting = 64;
  /// The longest time in milliseconds that a request waits for a load of another request.
  std::int64_t wait_ms = 15'000;
};

class IssuerKeys {
 public:
  using Load = std::function<Result<JwkSet>()>;

  /// `load` obtains the keys. One thread at a time calls it. The clock must outlive the object.
  explicit IssuerKeys(Load load, const KeyLimits& limits = {}, const Clock& clock = system_clock())
      : load_(std::move(load)), limits_(limits), clock_(clock) {}

  /// Returns the keys. If no key fits the token, the keys are loaded again before, unless that was
  /// done a short time ago. Error: unavailable if the issuer's keys are not known.
  Result<std::shared_ptr<const JwkSet>> keys_for(const Jwt& jwt);

  /// Loads the keys now. On an error, the old keys stay in use.
  Status reload();
  /// Makes the next token load the keys again. If that fails, the old keys stay in use. Returns at
  /// once.
  void expire();

 private:
  using Keys = std::shared_ptr<const JwkSet>;
  bool is_fresh() const ASSAY_REQUIRES(mutex_);
  // The mutex is not locked between these two functions, while `load_` runs.
  void begin_load() ASSAY_REQUIRES(mutex_);
  Status end_load(Result<JwkSet> loaded) ASSAY_REQUIRES(mutex_);
  Result<Keys> usable_keys() const ASSAY_REQUIRES(mutex_);

  const Load load_;
  const KeyLimits limits_;
  const Clock& clock_;
  Mutex mutex_;
  Condition changed_;
  Keys keys_ ASSAY_GUARDED_BY(mutex_);  // null: never loaded
  std::int64_t loaded_ns_ ASSAY_GUARDED_BY(mutex_) = 0;
  std::optional<std::int64_t> tried_ns_ ASSAY_GUARDED_BY(mutex_);  // the last load, of any result
  bool expired_ ASSAY_GUARDED_BY(mutex_) = false;
  bool loading_ ASSAY_GUARDED_BY(mutex_) = false;
  int waiting_ ASSAY_GUARDED_BY(mutex_) = 0;
};

}  // namespace assay::mcp
