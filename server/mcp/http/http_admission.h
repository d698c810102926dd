// Who may talk to the HTTP server, decided from a request's headers before anything of its body is
// read:
//
//   Host, Origin (DNS rebinding) -> bearer token -> rate limit of the token, or of the address
//   where there are no tokens
//
//   Admission::Decision decision = admission.decide(header, connection.remote().host,
//   Admission::Path::protocol); if (decision.refusal) return *decision.refusal;            // 400,
//   401, 403 or 429
//
// Thread-safe.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "server/mcp/http/http_endpoint.h"
#include "server/mcp/http/http_server.h"
#include "server/mcp/http/rate_limit.h"
#include "server/mcp/http/tokens.h"

namespace assay::mcp {

class Admission {
 public:
  /// `open`: needs no token and is not limited, such as /healthz.
  enum class Path { protocol, open };
  struct Decision {
    std::optional<Reply> refusal;
    std::shared_ptr<const Caller> caller = nullptr;  // null where no tokens are asked for
  };

  explicit Admission(const HttpOptions& options)
      : options_(options), limiter_(options.rate_limit) {}
  /// `remote`: the client's numeric address.
  Decision decide(const HeaderLookup& header, const std::string& remote, Path path);

 private:
  std::optional<Reply> refuse_name(const HeaderLookup& header) const;
  bool known_host(const std::string& host) const;
  std::optional<Reply> limit(const std::string& key, const std::string& whose);

  const HttpOptions& options_;
  RateLimiter limiter_;
};

}  // namespace assay::mcp
