#include "server/mcp/oauth/discovery.h"

#include <algorithm>

#include "base/text.h"

namespace assay::mcp {
namespace {

constexpr std::string_view kHttps = "https://";
constexpr std::string_view kHttp = "http://";

bool is_loopback_name(std::string_view host) {
  return host == "localhost" || host == "[::1]" ||
         (host.rfind("127.", 0) == 0 &&
          host.find_first_not_of("0123456789.") == std::string_view::npos);
}

}  // namespace

std::string origin_of(std::string_view url) {
  const std::size_t host = url.find("://") + 3;
  return std::string(url.substr(0, std::min(url.find_first_of("/?#", host), url.size())));
}

std::string host_of(std::string_view url) {
  std::string host = origin_of(url).substr(url.find("://") + 3);
  const std::size_t port = host.rfind(':');
  if (port != std::string::npos && host.find(']', port) == std::string::npos) host.resize(port);
  return host;
}

std::string path_of(std::string_view url) {
  url.remove_prefix(origin_of(url).size());
  const std::string path(url.substr(0, std::min(url.find_first_of("?#"), url.size())));
  return path == "/" ? "" : path;
}

Status check_url(std::string_view url, const std::string& what, bool may_have_query) {
  const auto wrong = [&](const std::string& why) {
    return fail(ErrorCode::invalid_argument, what + " '" + std::string(url) + "' " + why);
  };
  const bool https = url.rfind(kHttps, 0) == 0;
  if (!https && url.rfind(kHttp, 0) != 0) return wrong("must begin with https://");
  if (std::any_of(url.begin(), url.end(), [](unsigned char c) {
        return c <= ' ' || c >= 0x7f || c == '"' || c == '\\' || c == '<' || c == '>';
      }))
    return wrong("must have only visible ASCII characters without quotes, \\, < and >");
  if (url.find('#') != std::string_view::npos) return wrong("must have no fragment (#)");
  if (!may_have_query && url.find('?') != std::string_view::npos)
    return wrong("must have no query (?)");
  if (origin_of(url).find('@') != std::string::npos) return wrong("must have no user name (@)");
  const std::string host = host_of(url);
  if (host.empty()) return wrong("has no host");
  if (!https && !is_loopback_name(lower_case(host)))
    return wrong("must begin with https://; http:// is for localhost only");
  return {};
}

std::vector<std::string> metadata_urls(const std::string& issuer) {
  const std::string origin = origin_of(issuer);
  std::string path = path_of(issuer);
  if (!path.empty() && path.back() == '/') path.pop_back();
  std::vector<std::string> urls = {origin + "/.well-known/oauth-authorization-server" + path};
  if (!path.empty()) urls.push_back(origin + "/.well-known/openid-configuration" + path);
  urls.push_back(origin + path + "/.well-known/openid-configuration");
  return urls;
}

Result<JwkSet> discover_keys(const std::string& issuer, const Fetch& fetch) {
  std::string tried;
  for (const std::string& url : metadata_urls(issuer)) {
    const Result<std::string> text = fetch(url);
    if (!text) {
      tried.append(tried.empty() ? "" : "; ").append(text.error().message);
      continue;
    }
    ASSAY_TRY(metadata, parse_strict_object(*text, "the metadata at " + url));
    // RFC 8414, section 3.3: the issuer in the metadata must be the one that was asked for.
    // Otherwise one issuer could provide the keys of another one.
    if (metadata.value("issuer", nlohmann::json()) != issuer)
      return fail(ErrorCode::corrupt, "the metadata at " + url + " is not that of the issuer '" +
                                          issuer + "'; the two must be equal byte for byte");
    const auto keys = metadata.find("jwks_uri");
    if (keys == metadata.end() || !keys->is_string())
      return fail(ErrorCode::corrupt, "the metadata at " + url + " has no jwks_uri");
    const auto keys_url = keys->get<std::string>();
    ASSAY_RETURN_IF_ERROR(check_url(keys_url, "the jwks_uri", true));
    ASSAY_TRY(body, fetch(keys_url));
    return JwkSet::parse(body);
  }
  return fail(ErrorCode::unavailable, "no metadata of the issuer '" + issuer + "': " + tried);
}

}  // namespace assay::mcp
