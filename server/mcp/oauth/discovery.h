// Finds the keys of an issuer through its metadata (RFC 8414, OpenID Connect Discovery).
//
//   const Result<JwkSet> keys = discover_keys("https://id.example.org/realms/team", fetch);
//
// Pure functions apart from `fetch`, thread-safe.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "server/mcp/oauth/jwk_set.h"

namespace assay::mcp {

/// Returns the body of a successful answer to a GET. Error: any code.
using Fetch = std::function<Result<std::string>(const std::string& url)>;

/// Checks a URL of an issuer, a key set or this server: https with a host, or http with a loopback
/// host; no user, no fragment, and no query unless `may_have_query`. Error: invalid_argument, and
/// the message names `what`.
Status check_url(std::string_view url, const std::string& what, bool may_have_query = false);

/// Returns the URLs of the issuer's metadata, in the order in which a client tries them.
std::vector<std::string> metadata_urls(const std::string& issuer);

/// Fetches the metadata of the issuer and then its keys. Errors: unavailable if the metadata or the
/// keys cannot be fetched; corrupt if they are malformed, or if the metadata is that of another
/// issuer.
Result<JwkSet> discover_keys(const std::string& issuer, const Fetch& fetch);

/// Returns scheme, host and port of a URL that check_url() accepts: "https://id.example.org:8443".
std::string origin_of(std::string_view url);
/// Returns the host of a URL that check_url() accepts, without the port.
std::string host_of(std::string_view url);
/// Returns the path of a URL that check_url() accepts, or "" if it has none or only "/".
std::string path_of(std::string_view url);

}  // namespace assay::mcp
