// Introspection asks an issuer whether an opaque access token is valid (RFC 7662). It remembers
// each answer for a short time, so that a client's requests do not all wait for the issuer.
//
//   Introspection introspection(ask);
//   const auto claims = introspection.claims_of(token);
//   if (claims) show((*claims)->value("sub", ""));
//
// An issuer that does not answer, or that answers something else than RFC 7662 describes, has
// trouble: no token is then accepted, and none is called invalid. At most
// IntrospectionLimits::max_asking requests are sent at the same time. Requests about one token wait
// for one answer. Tokens are kept only as hashes, and are never logged. Thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "base/clock.h"
#include "base/json.h"
#include "base/mutex.h"
#include "base/result.h"

namespace assay::mcp {

struct IntrospectionLimits {
  /// The time in milliseconds for which an answer is remembered. 0: the issuer is asked each time.
  /// A token that the issuer withdraws is accepted up to this time longer.
  std::int64_t cache_ms = 60'000;
  /// The time in milliseconds for which a token counts as familiar() after it was valid.
  std::int64_t familiar_ms = 86'400'000;
  /// The maximum number of remembered answers about valid tokens, and about invalid ones.
  std::size_t max_known = 4'096;
  /// The maximum number of requests that are sent to the issuer at the same time.
  std::size_t max_asking = 16;
  /// The maximum number of requests that wait for their turn. Further requests are refused.
  int max_waiting = 256;
  /// The longest time in milliseconds that a request waits for its turn.
  std::int64_t wait_ms = 15'000;
  /// The time in milliseconds for which the issuer is not asked after it could not be reached.
  std::int64_t pause_ms = 1'000;
};

class Introspection {
 public:
  using Claims = std::shared_ptr<const nlohmann::json>;
  struct Answer {
    int status = 0;
    std::string body;
  };
  /// Sends a token to the issuer. Several threads call it. Errors: unavailable if the issuer cannot
  /// be reached; any other code if the request or the answer cannot be used.
  using Ask = std::function<Result<Answer>(const std::string& token)>;

  /// The clock must outlive the object.
  explicit Introspection(Ask ask, const IntrospectionLimits& limits = {},
                         const Clock& clock = system_clock());

  /// Returns what the issuer says about a valid token. Nobody has checked the times and the
  /// audience yet. Errors: unavailable if the issuer has trouble; corrupt if the token is not
  /// valid.
  Result<Claims> claims_of(std::string_view token);

  /// Returns true if the answer about the token is remembered.
  bool knows(std::string_view token) const;

  /// Returns true if the issuer called the token valid the last time it was asked. The issuer must
  /// be asked again if the answer is no longer remembered.
  bool familiar(std::string_view token) const;

  /// Forgets all answers. An answer that is on its way is not remembered either.
  void forget();

 private:
  /// Answers with the times at which they are forgotten. If there are too many, the oldest answer
  /// is forgotten first.
  class Memory {
   public:
    explicit Memory(std::size_t most) : most_(most) {}
    bool has(const std::string& key, std::int64_t now_ns) const;
    Claims claims(const std::string& key) const { return entries_.at(key).claims; }
    void put(const std::string& key, Claims claims, std::int64_t now_ns, std::int64_t until_ns);
    void erase(const std::string& key) { entries_.erase(key); }
    void clear();

   private:
    struct Entry {
      Claims claims;
      std::int64_t until_ns = 0;
    };
    std::size_t most_;
    std::map<std::string, Entry> entries_;
    std::deque<std::pair<std::string, std::int64_t>> order_;  // keys and times, the oldest first
  };

  bool is_known(const std::string& key) const ASSAY_REQUIRES(mutex_);
  bool has_turn(const std::string& key) const ASSAY_REQUIRES(mutex_);
  /// Remembers the answer and returns its claims.
  Result<Claims> end_ask(const std::string& key, const Result<Answer>& answer, bool remember)
      ASSAY_REQUIRES(mutex_);
  void log_trouble(const Error* error) ASSAY_REQUIRES(mutex_);

  const Ask ask_;
  const IntrospectionLimits limits_;
  const Clock& clock_;
  mutable Mutex mutex_;
  Condition changed_;
  Memory active_ ASSAY_GUARDED_BY(mutex_), inactive_ ASSAY_GUARDED_BY(mutex_);
  Memory familiar_ ASSAY_GUARDED_BY(mutex_);  // without claims: no token is accepted because of it
  std::set<std::string> asking_ ASSAY_GUARDED_BY(mutex_);
  int waiting_ ASSAY_GUARDED_BY(mutex_) = 0;
  int forgotten_ ASSAY_GUARDED_BY(mutex_) = 0;  // how often forget() was called
  std::int64_t paused_until_ns_ ASSAY_GUARDED_BY(mutex_);
  bool in_trouble_ ASSAY_GUARDED_BY(mutex_) = false;
};

}  // namespace assay::mcp
