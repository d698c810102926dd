#include "server/mcp/oauth/access_tokens.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "base/text.h"

namespace assay::mcp {
namespace {

using nlohmann::json;

constexpr std::size_t kMaxSubjectBytes = 255;  // the limit of OpenID Connect
constexpr std::size_t kMaxScopes = 256;
constexpr double kMsPerSecond = 1000;

tl::unexpected<Error> invalid(const std::string& why) { return fail(ErrorCode::corrupt, why); }

/// Returns a time of the claims in seconds, which may have a fraction. Returns nothing if it is
/// missing. Error: the claim is no number, or no time.
Result<std::optional<double>> time_of(const json& claims, const char* name) {
  constexpr double kLatest = 253'402'300'799;  // the end of the year 9999
  const auto found = claims.find(name);
  if (found == claims.end()) return std::nullopt;
  if (!found->is_number())
    return invalid(std::string("the claim '") + name + "' must be a number of seconds");
  const auto seconds = found->get<double>();
  if (!std::isfinite(seconds) || seconds < 0 || seconds > kLatest)
    return invalid(std::string("the claim '") + name + "' is no time");
  return seconds;
}

/// Returns the strings of a claim that is a string or a list of strings. Error: it is neither.
Result<std::vector<std::string>> strings_of(const json& claim, const std::string& name) {
  if (claim.is_string()) return std::vector<std::string>{claim.get<std::string>()};
  const bool strings =
      claim.is_array() &&
      std::all_of(claim.begin(), claim.end(), [](const json& entry) { return entry.is_string(); });
  if (!strings) return invalid("the claim '" + name + "' must be a string or a list of strings");
  return claim.get<std::vector<std::string>>();
}

/// Returns the token's subject. Refuses one with characters that a log or a terminal could
/// interpret.
Result<std::string> subject_of(const json& claims) {
  const auto found = claims.find("sub");
  if (found == claims.end() || !found->is_string()) return invalid("the claim 'sub' is missing");
  const auto& subject = found->get_ref<const std::string&>();
  if (subject.empty() || subject.size() > kMaxSubjectBytes ||
      subject.find_first_of("\t\n") != std::string::npos || escape_text(subject) != subject)
    return invalid("the claim 'sub' must have 1 to " + std::to_string(kMaxSubjectBytes) +
                   " bytes of printable text");
  return subject;
}

}  // namespace

Status AccessTokens::check_times(const json& claims) const {
  const double now = static_cast<double>(clock_.unix_ms()) / kMsPerSecond;
  const auto leeway = static_cast<double>(rules_.leeway_s);
  ASSAY_TRY(expires, time_of(claims, "exp"));
  ASSAY_TRY(begins, time_of(claims, "nbf"));
  ASSAY_TRY(issued, time_of(claims, "iat"));
  if (!expires) return invalid("the claim 'exp' is missing, so the token would never expire");
  if (now >= *expires + leeway) return invalid("the token has expired");
  if (begins && now < *begins - leeway) return invalid("the token is not valid yet");
  if (issued && now < *issued - leeway) return invalid("the token was issued in the future");
  return {};
}

Status AccessTokens::check_claims(const Jwt& jwt) const {
  const bool typed = jwt.type == "at+jwt";
  if (!typed && (rules_.require_type || (!jwt.type.empty() && jwt.type != "jwt")))
    return invalid(rules_.require_type ? "the token's type must be at+jwt"
                                       : "the token's type is not that of an access token");
  ASSAY_RETURN_IF_ERROR(check_times(jwt.claims));
  const auto audience = jwt.claims.find("aud");
  if (audience == jwt.claims.end()) return invalid("the claim 'aud' is missing");
  ASSAY_TRY(audiences, strings_of(*audience, "aud"));
  if (std::find_first_of(audiences.begin(), audiences.end(), rules_.audiences.begin(),
                         rules_.audiences.end()) == audiences.end())
    return invalid("the token was issued for another service; its 'aud' must contain " +
                   join(rules_.audiences, " or "));
  // A token that is bound to a key of the client (RFC 8705, RFC 9449) is no bearer token. This
  // server cannot check the client's key.
  if (jwt.claims.contains("cnf"))
    return invalid("tokens that are bound to a key of the client ('cnf') are not supported");
  return {};
}

std::vector<std::string> AccessTokens::scopes_of(const json& claims) const {
  std::vector<std::string> theirs;
  for (const char* name : {"scope", "scp"}) {
    const auto found = claims.find(name);
    if (found == claims.end()) continue;
    const auto values = strings_of(*found, name);
    if (!values) continue;
    for (const std::string& value : *values) {
      for (std::string& scope : split(value, " ")) {
        if (theirs.size() < kMaxScopes) theirs.push_back(std::move(scope));
      }
    }
  }
  std::vector<std::string> ours;
  for (const ScopeName& scope : rules_.scopes) {
    if (std::find(theirs.begin(), theirs.end(), scope.theirs) != theirs.end() &&
        std::find(ours.begin(), ours.end(), scope.ours) == ours.end())
      ours.push_back(scope.ours);
  }
  return ours;
}

Result<std::shared_ptr<const Caller>> AccessTokens::verify(std::string_view token) const {
  ASSAY_TRY(jwt, parse_jwt(token, rules_.max_token_bytes));
  // The issuer selects the keys. The claim is not trustworthy yet: if it is false, none of these
  // keys has made the signature.
  const json claimed = jwt.claims.value("iss", json());
  const auto issuer = std::find_if(issuers_.begin(), issuers_.end(),
                                   [&claimed](const Issuer& one) { return claimed == one.url; });
  if (issuer == issuers_.end())
    return invalid("the token's issuer is not accepted; valid: " +
                   join(issuers_, ", ", &Issuer::url));
  ASSAY_TRY(keys, issuer->keys->keys_for(jwt));
  if (!keys->has_key_for(jwt))
    return invalid("the issuer has no key with the token's key id and algorithm");
  if (!keys->verify(jwt)) return invalid("the token's signature is wrong");
  ASSAY_RETURN_IF_ERROR(check_claims(jwt));
  ASSAY_TRY(subject, subject_of(jwt.claims));
  return std::make_shared<const Caller>(
      Caller{.name = issuer->url + " " + subject,
             .scopes = scopes_of(jwt.claims),
             .issuer = issuer->url,
             .expires_unix_ms =
                 static_cast<std::int64_t>(jwt.claims["exp"].get<double>() * kMsPerSecond)});
}

std::vector<Error> AccessTokens::reload() const {
  std::vector<Error> errors;
  for (const Issuer& issuer : issuers_) {
    if (!issuer.has_file)
      issuer.keys->expire();
    else if (const Status read = issuer.keys->reload(); !read)
      errors.push_back(read.error());
  }
  return errors;
}

}  // namespace assay::mcp
