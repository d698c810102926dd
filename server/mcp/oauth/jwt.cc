#include "server/mcp/oauth/jwt.h"

#include <algorithm>
#include <array>
#include <set>
#include <utility>
#include <vector>

#include "base/base64.h"
#include "base/json_depth.h"
#include "base/text.h"

namespace assay::mcp {
namespace {

using nlohmann::json;

constexpr int kMaxJsonDepth = 8;
constexpr std::size_t kMaxKeyIdBytes = 256;
constexpr std::size_t kBase64Group = 4;
constexpr std::string_view kMediaTypePrefix = "application/";

/// Reads an optional text of the token's header.
Result<std::string> header_text(const json& header, const char* name, std::size_t max_bytes) {
  const auto found = header.find(name);
  if (found == header.end()) return std::string();
  if (!found->is_string() || found->get_ref<const std::string&>().size() > max_bytes)
    return fail(ErrorCode::corrupt, std::string("the header '") + name + "' must be a string of " +
                                        "at most " + std::to_string(max_bytes) + " bytes");
  return found->get<std::string>();
}

Status read_header(const json& header, Jwt& jwt) {
  // RFC 7515, section 4.1.11: a recipient that does not understand an extension named by `crit`
  // must refuse the token. This server understands none.
  if (header.contains("crit"))
    return fail(ErrorCode::unsupported, "the header 'crit' names extensions; none is supported");
  ASSAY_TRY(name, header_text(header, "alg", kMaxKeyIdBytes));
  const auto algorithm = signature_algorithm(name);
  if (!algorithm)
    return fail(ErrorCode::unsupported,
                std::string("the algorithm is not accepted; valid: ") + kSignatureAlgorithms);
  jwt.algorithm = *algorithm;
  ASSAY_TRY(key_id, header_text(header, "kid", kMaxKeyIdBytes));
  jwt.key_id = key_id;
  ASSAY_TRY(type, header_text(header, "typ", kMaxKeyIdBytes));
  jwt.type = lower_case(type);
  if (jwt.type.rfind(kMediaTypePrefix, 0) == 0) jwt.type.erase(0, kMediaTypePrefix.size());
  return {};
}

Result<json> decoded_object(std::string_view part, const std::string& what) {
  const auto text = base64url_decode(part);
  if (!text) return fail(ErrorCode::corrupt, what + " is not base64url");
  return parse_strict_object(*text, what);
}

}  // namespace

std::optional<SignatureAlgorithm> signature_algorithm(std::string_view name) {
  static constexpr std::array<std::pair<std::string_view, SignatureAlgorithm>, 5> kNames = {{
      {"RS256", SignatureAlgorithm::rs256},
      {"PS256", SignatureAlgorithm::ps256},
      {"ES256", SignatureAlgorithm::es256},
      {"EdDSA", SignatureAlgorithm::ed25519},    // RFC 8037
      {"Ed25519", SignatureAlgorithm::ed25519},  // RFC 9864
  }};
  const auto found = std::find_if(kNames.begin(), kNames.end(),
                                  [name](const auto& entry) { return entry.first == name; });
  return found == kNames.end() ? std::nullopt : std::optional(found->second);
}

std::optional<std::string> base64url_decode(std::string_view text) {
  std::string plain(text);
  for (char& c : plain) {
    if (c == '+' || c == '/' || c == '=') return std::nullopt;
    if (c == '-') c = '+';
    if (c == '_') c = '/';
  }
  plain.append((kBase64Group - plain.size() % kBase64Group) % kBase64Group, '=');
  return base64_decode(plain);
}

Result<json> parse_strict_object(std::string_view text, const std::string& what) {
  if (deeper_than(text, kMaxJsonDepth))
    return fail(ErrorCode::corrupt,
                what + " nests deeper than " + std::to_string(kMaxJsonDepth) + " levels");
  bool duplicate = false;
  std::vector<std::set<std::string>> names;
  const json::parser_callback_t callback = [&](int, json::parse_event_t event, json& value) {
    if (event == json::parse_event_t::object_start) names.emplace_back();
    if (event == json::parse_event_t::object_end) names.pop_back();
    if (event == json::parse_event_t::key)
      duplicate = !names.back().insert(value.get<std::string>()).second || duplicate;
    return true;
  };
  json object = json::parse(text.begin(), text.end(), callback, /*allow_exceptions=*/false);
  if (object.is_discarded() || !object.is_object())
    return fail(ErrorCode::corrupt, what + " is not a JSON object in UTF-8");
  if (duplicate)
    return fail(ErrorCode::corrupt, what + " has two members of the same name in one object");
  return object;
}

bool has_jwt_form(std::string_view token) {
  constexpr std::ptrdiff_t kDots = 2;
  return std::count(token.begin(), token.end(), '.') == kDots &&
         decoded_object(token.substr(0, token.find('.')), "the token's header").has_value();
}

Result<Jwt> parse_jwt(std::string_view token, std::size_t max_bytes) {
  if (token.size() > max_bytes)
    return fail(ErrorCode::resource_exhausted,
                "the token is larger than " + std::to_string(max_bytes) + " bytes");
  const std::size_t first = token.find('.');
  const std::size_t second = first == std::string_view::npos ? first : token.find('.', first + 1);
  if (second == std::string_view::npos || token.find('.', second + 1) != std::string_view::npos)
    return fail(ErrorCode::corrupt, "a signed token has three parts between dots");
  Jwt jwt;
  ASSAY_TRY(header, decoded_object(token.substr(0, first), "the token's header"));
  ASSAY_RETURN_IF_ERROR(read_header(header, jwt));
  ASSAY_TRY(claims,
            decoded_object(token.substr(first + 1, second - first - 1), "the token's payload"));
  jwt.claims = std::move(claims);
  auto signature = base64url_decode(token.substr(second + 1));
  if (!signature || signature->empty())
    return fail(ErrorCode::corrupt, "the token's signature is missing or not base64url");
  jwt.signature = std::move(*signature);
  jwt.signed_part = token.substr(0, second);
  return jwt;
}

}  // namespace assay::mcp
