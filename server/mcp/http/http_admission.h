// Admission decides whether the client of a request may use the HTTP server. It reads only the
// headers, so the decision comes before the body is read. It first checks Host and Origin (against
// DNS rebinding), then the bearer token, then the rate limit. Each token has its own rate limit. A
// request without a valid token counts against the rate limit of its address.
//
//   const Admission::Decision decision =
//       admission.decide(request.lookup(), "192.0.2.7", Admission::Path::protocol);
//   if (decision.refusal) return *decision.refusal;  // 400, 401, 403 or 429
//
// Thread-safe.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "base/clock.h"
#include "base/rate_limiter.h"
#include "server/mcp/http/http_endpoint.h"
#include "server/mcp/http/http_server.h"
#include "server/mcp/http/tokens.h"

namespace assay::mcp {

class Admission {
 public:
  /// Says which checks a path needs. A `protocol` path needs a token and has a rate limit. An
  /// `open` path has neither: /healthz, and every path that does not exist. Clients without a token
  /// look for the documents of OAuth (/.well-known/...), and must get them, or learn that there are
  /// none.
  enum class Path { protocol, open };
  struct Decision {
    std::optional<Reply> refusal;
    /// Null if the server has no tokens, if the path is `open`, or if the request is refused.
    std::shared_ptr<const Caller> caller = nullptr;
  };

  /// The options and the clock must outlive the object.
  explicit Admission(const HttpOptions& options, const Clock& clock = system_clock())
      : options_(options), clock_(clock), limiter_(options.rate_limit, clock) {}
  /// Decides about one request. `remote` is the numeric address of the client.
  Decision decide(const HeaderLookup& header, const std::string& remote, Path path);
  void set_rate_limit(const RateLimit& limit) { limiter_.set_limit(limit); }
  /// Forgets the rates of clients that have paused.
  void forget_paused() { limiter_.forget_full(); }

 private:
  std::optional<Reply> refuse_name(const HeaderLookup& header) const;
  bool known_host(const std::string& host) const;
  std::optional<Reply> limit(const std::string& key, const std::string& whose);
  /// Counts a question to an identity provider about this token.
  std::optional<Reply> limit_question(const std::string& token, const std::string& remote);

  /// Returns true if an identity provider must be asked about the token.
  bool must_ask(const std::string& token) const;
  /// Returns the client of a token, or the reply that refuses the token.
  tl::expected<std::shared_ptr<const Caller>, Reply> caller_of(const std::string& token) const;

  const HttpOptions& options_;
  const Clock& clock_;
  RateLimiter limiter_;
};

}  // namespace assay::mcp
