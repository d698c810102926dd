#include "server/mcp/oauth/introspection.h"

#include "base/handle.h"
#include "base/log.h"
#include "server/mcp/oauth/jwt.h"

namespace assay::mcp {
namespace {

constexpr int kOk = 200;

tl::unexpected<Error> no_answer() {
  return fail(ErrorCode::unavailable, "the token's issuer cannot be asked about the token now");
}

tl::unexpected<Error> not_active() { return fail(ErrorCode::corrupt, "the token is not active"); }

/// Returns the claims of a valid token, or null if the token is not valid. Error: the answer is not
/// one of RFC 7662. The message has nothing of the body, which may contain the token.
Result<Introspection::Claims> claims_in(const Introspection::Answer& answer) {
  if (answer.status != kOk)
    return fail(ErrorCode::io, "the answer has the status " + std::to_string(answer.status));
  ASSAY_TRY(object, parse_strict_object(answer.body, "the answer"));
  const auto active = object.find("active");
  if (active == object.end() || !active->is_boolean())
    return fail(ErrorCode::corrupt, "the answer has no member 'active' that is true or false");
  if (!active->get<bool>()) return Introspection::Claims();
  return std::make_shared<const nlohmann::json>(std::move(object));
}

}  // namespace

bool Introspection::Memory::has(const std::string& key, std::int64_t now_ns) const {
  const auto found = entries_.find(key);
  return found != entries_.end() && now_ns < found->second.until_ns;
}

void Introspection::Memory::put(const std::string& key, Claims claims, std::int64_t now_ns,
                                std::int64_t until_ns) {
  while (!order_.empty() && (order_.front().second <= now_ns || entries_.size() >= most_)) {
    const auto found = entries_.find(order_.front().first);
    if (found != entries_.end() && found->second.until_ns == order_.front().second)
      entries_.erase(found);
    order_.pop_front();
  }
  entries_[key] = {std::move(claims), until_ns};
  order_.emplace_back(key, until_ns);
}

void Introspection::Memory::clear() {
  entries_.clear();
  order_.clear();
}

Introspection::Introspection(Ask ask, const IntrospectionLimits& limits, const Clock& clock)
    : ask_(std::move(ask)),
      limits_(limits),
      clock_(clock),
      active_(limits.max_known),
      inactive_(limits.max_known),
      familiar_(limits.max_known),
      paused_until_ns_(clock.monotonic_ns()) {}

bool Introspection::is_known(const std::string& key) const {
  const std::int64_t now_ns = clock_.monotonic_ns();
  return active_.has(key, now_ns) || inactive_.has(key, now_ns);
}

bool Introspection::knows(std::string_view token) const {
  const std::string key = sha256_hex(token);
  const MutexLock lock(mutex_);
  return is_known(key);
}

bool Introspection::familiar(std::string_view token) const {
  const std::string key = sha256_hex(token);
  const MutexLock lock(mutex_);
  return familiar_.has(key, clock_.monotonic_ns());
}

bool Introspection::has_turn(const std::string& key) const {
  return asking_.size() < limits_.max_asking && asking_.count(key) == 0;
}

void Introspection::forget() {
  const MutexLock lock(mutex_);
  active_.clear();
  inactive_.clear();
  paused_until_ns_ = clock_.monotonic_ns();
  ++forgotten_;
}

void Introspection::log_trouble(const Error* error) {
  if (in_trouble_ == (error != nullptr)) return;
  in_trouble_ = error != nullptr;
  if (error)
    log::warning("an issuer cannot be asked about tokens", {{"error", error->message}});
  else
    log::info("the issuer can be asked about tokens again");
}

Result<Introspection::Claims> Introspection::end_ask(const std::string& key,
                                                     const Result<Answer>& answer, bool remember) {
  const std::int64_t now_ns = clock_.monotonic_ns();
  if (!answer && answer.error().code == ErrorCode::unavailable)
    paused_until_ns_ = now_ns + limits_.pause_ms * kNsPerMs;
  Result<Claims> claims = answer ? claims_in(*answer) : fail(answer.error());
  log_trouble(claims ? nullptr : &claims.error());
  if (!claims) return no_answer();
  const bool active = *claims != nullptr;
  if (!active)
    familiar_.erase(key);
  else if (!familiar_.has(key, now_ns))
    familiar_.put(key, nullptr, now_ns, now_ns + limits_.familiar_ms * kNsPerMs);
  if (remember && limits_.cache_ms > 0)
    (active ? active_ : inactive_).put(key, *claims, now_ns, now_ns + limits_.cache_ms * kNsPerMs);
  if (!active) return not_active();
  return claims;
}

Result<Introspection::Claims> Introspection::claims_of(std::string_view token) {
  const std::string key = sha256_hex(token);
  MutexLock lock(mutex_);
  const std::int64_t until_ns = clock_.monotonic_ns() + limits_.wait_ms * kNsPerMs;
  while (true) {
    const std::int64_t now_ns = clock_.monotonic_ns();
    if (active_.has(key, now_ns)) return active_.claims(key);
    if (inactive_.has(key, now_ns)) return not_active();
    if (now_ns < paused_until_ns_) return no_answer();
    if (has_turn(key)) break;
    if (waiting_ >= limits_.max_waiting) return no_answer();
    ++waiting_;
    const bool in_time = clock_.wait_until(changed_, lock, until_ns, [&]() ASSAY_REQUIRES(mutex_) {
      return has_turn(key) || is_known(key) || clock_.monotonic_ns() < paused_until_ns_;
    });
    --waiting_;
    if (!in_time) return no_answer();
  }
  asking_.insert(key);
  const int forgotten = forgotten_;
  lock.unlock();
  const Result<Answer> answer = ask_(std::string(token));
  lock.lock();
  asking_.erase(key);
  changed_.notify_all();
  return end_ask(key, answer, forgotten == forgotten_);
}

}  // namespace assay::mcp
