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
// Begins the name of a principal that is a client without a subject. No subject begins so.
constexpr std::string_view kClientPrefix = "client_id=";

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

/// Returns the name in a claim. Refuses one with characters that a log or a terminal could
/// interpret.
Result<std::string> name_in(const json& claims, const char* claim) {
  const std::string what = std::string("the claim '") + claim + "'";
  const auto found = claims.find(claim);
  if (found == claims.end() || !found->is_string()) return invalid(what + " is missing");
  const auto& name = found->get_ref<const std::string&>();
  if (name.empty() || name.size() > kMaxSubjectBytes ||
      name.find_first_of("\t\n") != std::string::npos || escape_text(name) != name)
    return invalid(what + " must have 1 to " + std::to_string(kMaxSubjectBytes) +
                   " bytes of printable text");
  return name;
}

Result<std::string> subject_of(const json& claims) {
  ASSAY_TRY(subject, name_in(claims, "sub"));
  if (subject.rfind(kClientPrefix, 0) == 0)
    return invalid("the claim 'sub' must not begin with " + std::string(kClientPrefix));
  return std::move(subject);
}

/// Returns the subject of an opaque token. A token that a program got for itself may have none; the
/// client is the subject then.
Result<std::string> subject_or_client(const json& claims) {
  if (claims.contains("sub")) return subject_of(claims);
  ASSAY_TRY(client, name_in(claims, "client_id"));
  return std::string(kClientPrefix) + client;
}

/// Checks the members that only the answer about an opaque token has.
Status check_answer(const json& claims, const std::string& issuer) {
  if (claims.contains("iss") && claims["iss"] != issuer)
    return invalid("the token's issuer is not " + issuer);
  const auto type = claims.find("token_type");
  if (type == claims.end()) return {};
  if (!type->is_string() || lower_case(type->get_ref<const std::string&>()) != "bearer")
    return invalid("the token's type is not that of a bearer token");
  return {};
}

bool is_visible(std::string_view token) {
  return std::all_of(token.begin(), token.end(), [](char c) { return c > ' ' && c < 0x7f; });
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

Status AccessTokens::check_type(const Jwt& jwt) const {
  const bool typed = jwt.type == "at+jwt";
  if (!typed && (rules_.require_type || (!jwt.type.empty() && jwt.type != "jwt")))
    return invalid(rules_.require_type ? "the token's type must be at+jwt"
                                       : "the token's type is not that of an access token");
  return {};
}

Status AccessTokens::check_claims(const json& claims) const {
  ASSAY_RETURN_IF_ERROR(check_times(claims));
  const auto audience = claims.find("aud");
  if (audience == claims.end()) return invalid("the claim 'aud' is missing");
  ASSAY_TRY(audiences, strings_of(*audience, "aud"));
  if (std::find_first_of(audiences.begin(), audiences.end(), rules_.audiences.begin(),
                         rules_.audiences.end()) == audiences.end())
    return invalid("the token was issued for another service; its 'aud' must contain " +
                   join(rules_.audiences, " or "));
  // A token that is bound to a key of the client (RFC 8705, RFC 9449) is no bearer token. This
  // server cannot check the client's key.
  if (claims.contains("cnf"))
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

std::shared_ptr<const Caller> AccessTokens::caller_of(const Issuer& issuer,
                                                      const std::string& subject,
                                                      const json& claims) const {
  return std::make_shared<const Caller>(Caller{
      .name = issuer.url + " " + subject,
      .scopes = scopes_of(claims),
      .issuer = issuer.url,
      .expires_unix_ms = static_cast<std::int64_t>(claims.at("exp").get<double>() * kMsPerSecond)});
}

const AccessTokens::Issuer* AccessTokens::asked_issuer() const {
  const auto found = std::find_if(issuers_.begin(), issuers_.end(), [](const Issuer& issuer) {
    return issuer.introspection != nullptr;
  });
  return found == issuers_.end() ? nullptr : &*found;
}

bool AccessTokens::is_opaque(std::string_view token) const {
  return knows_opaque_tokens() && token.size() <= rules_.max_token_bytes && is_visible(token) &&
         !has_jwt_form(token);
}

bool AccessTokens::must_ask(std::string_view token) const {
  return is_opaque(token) && !asked_issuer()->introspection->knows(token);
}

bool AccessTokens::familiar(std::string_view token) const {
  return is_opaque(token) && asked_issuer()->introspection->familiar(token);
}

AccessTokens::Verified AccessTokens::verify(std::string_view token) const {
  return is_opaque(token) ? verify_opaque(*asked_issuer(), token) : verify_signed(token);
}

AccessTokens::Verified AccessTokens::verify_opaque(const Issuer& issuer,
                                                   std::string_view token) const {
  ASSAY_TRY(answer, issuer.introspection->claims_of(token));
  const json& claims = *answer;
  ASSAY_RETURN_IF_ERROR(check_answer(claims, issuer.url));
  ASSAY_RETURN_IF_ERROR(check_claims(claims));
  ASSAY_TRY(subject, subject_or_client(claims));
  return caller_of(issuer, subject, claims);
}

AccessTokens::Verified AccessTokens::verify_signed(std::string_view token) const {
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
  ASSAY_RETURN_IF_ERROR(check_type(jwt));
  ASSAY_RETURN_IF_ERROR(check_claims(jwt.claims));
  ASSAY_TRY(subject, subject_of(jwt.claims));
  return caller_of(*issuer, subject, jwt.claims);
}

std::vector<Error> AccessTokens::reload() const {
  std::vector<Error> errors;
  for (const Issuer& issuer : issuers_) {
    if (issuer.introspection) issuer.introspection->forget();
    if (!issuer.has_file)
      issuer.keys->expire();
    else if (const Status read = issuer.keys->reload(); !read)
      errors.push_back(read.error());
  }
  return errors;
}

}  // namespace assay::mcp
