#include "server/mcp/oauth/protected_resource.h"

#include <algorithm>

#include "base/json.h"
#include "base/text.h"
#include "server/mcp/oauth/discovery.h"

namespace assay::mcp {
namespace {

constexpr std::string_view kWellKnown = "/.well-known/oauth-protected-resource";

/// Removes the characters that cannot occur between quotes in a challenge (RFC 6750, section 3).
std::string quotable(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c >= ' ' && c < 0x7f && c != '"' && c != '\\') out.push_back(c);
  }
  return out;
}

}  // namespace

bool ProtectedResource::describes(std::string_view path) const {
  if (path.rfind(kWellKnown, 0) != 0) return false;
  path.remove_prefix(kWellKnown.size());
  // A proxy may show the endpoint under another path than /mcp.
  return path.empty() || path == "/mcp" || path == path_of(url);
}

std::string ProtectedResource::metadata_url() const {
  return origin_of(url) + std::string(kWellKnown) + path_of(url);
}

std::string ProtectedResource::metadata() const {
  return nlohmann::json{{"resource", url},
                        {"authorization_servers", issuers},
                        {"scopes_supported", split(join(scopes, " ", &ScopeName::theirs), " ")},
                        {"bearer_methods_supported", {"header"}},
                        {"resource_name", "Assay"}}
      .dump();
}

std::string ProtectedResource::challenge(const Challenge& challenge) const {
  std::vector<std::string> wanted, done;
  const auto has = [](const std::vector<std::string>& list, const std::string& entry) {
    return std::find(list.begin(), list.end(), entry) != list.end();
  };
  for (const ScopeName& scope : scopes) {
    const bool first = challenge.scopes.empty() && wanted.empty();
    // If several scopes of the issuers stand for the same scope, the first one is enough.
    if (has(done, scope.ours) || !(first || has(challenge.scopes, scope.ours))) continue;
    wanted.push_back(scope.theirs);
    done.push_back(scope.ours);
  }
  std::string text = R"(Bearer realm="assay")";
  const auto add = [&text](const char* name, const std::string& value) {
    if (!value.empty()) text.append(", ").append(name).append("=\"").append(value).append("\"");
  };
  add("error", challenge.error);
  add("error_description", quotable(challenge.reason));
  add("scope", join(wanted, " "));
  add("resource_metadata", metadata_url());
  return text;
}

}  // namespace assay::mcp
