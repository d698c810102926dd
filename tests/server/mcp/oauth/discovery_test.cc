#include "server/mcp/oauth/discovery.h"

#include <map>

#include "tests/server/mcp/oauth/signing.h"

namespace assay::mcp {
namespace {

using test::json;
using test::signing_keys;

/// The documents of an issuer by their URLs.
using Documents = std::map<std::string, std::string>;

Result<JwkSet> discovered(const Documents& documents, const std::string& issuer) {
  return discover_keys(issuer, [&documents](const std::string& url) -> Result<std::string> {
    const auto found = documents.find(url);
    if (found == documents.end()) return fail(ErrorCode::unavailable, url + ": 404");
    return found->second;
  });
}

std::string metadata_of(const std::string& issuer, const std::string& keys_url) {
  return json{{"issuer", issuer}, {"jwks_uri", keys_url}}.dump();
}

}  // namespace

TEST_CASE("discovery: the URLs of an issuer's metadata") {
  CHECK(metadata_urls("https://id.example") ==
        std::vector<std::string>{"https://id.example/.well-known/oauth-authorization-server",
                                 "https://id.example/.well-known/openid-configuration"});
  CHECK(metadata_urls("https://id.example:8443/realms/a") ==
        std::vector<std::string>{
            "https://id.example:8443/.well-known/oauth-authorization-server/realms/a",
            "https://id.example:8443/.well-known/openid-configuration/realms/a",
            "https://id.example:8443/realms/a/.well-known/openid-configuration"});
}

TEST_CASE("discovery: the keys are those of the issuer's own metadata") {
  const std::string keys = signing_keys().key_set();
  for (const std::string& url : metadata_urls("https://id.example/a")) {
    INFO(url);
    CHECK(discovered({{url, metadata_of("https://id.example/a", "https://id.example/keys")},
                      {"https://id.example/keys", keys}},
                     "https://id.example/a"));
  }
  const std::string url = metadata_urls("https://id.example")[0];
  for (const char* other : {"https://evil.example", "https://id.example/", "HTTPS://id.example"})
    CHECK(discovered({{url, metadata_of(other, "https://id.example/keys")},
                      {"https://id.example/keys", keys}},
                     "https://id.example")
              .error()
              .code == ErrorCode::corrupt);
  CHECK(discovered({}, "https://id.example").error().code == ErrorCode::unavailable);
  CHECK(discovered({{url, metadata_of("https://id.example", "https://id.example/keys")}},
                   "https://id.example")
            .error()
            .code == ErrorCode::unavailable);
}

TEST_CASE("discovery: malformed metadata, and keys over plain HTTP, are refused") {
  const std::string url = metadata_urls("https://id.example")[0];
  for (const std::string& text :
       {std::string("[]"), std::string("{}"), std::string(R"({"issuer":"https://id.example"})"),
        std::string(R"({"issuer":"https://id.example","jwks_uri":7})"),
        std::string(R"({"issuer":"https://evil.example","issuer":"https://id.example",)"
                    R"("jwks_uri":"https://id.example/keys"})"),
        metadata_of("https://id.example", "http://id.example/keys"),
        metadata_of("https://id.example", "file:///etc/passwd")}) {
    INFO(text);
    CHECK_FALSE(discovered({{url, text},
                            {"http://id.example/keys", signing_keys().key_set()},
                            {"https://id.example/keys", signing_keys().key_set()}},
                           "https://id.example"));
  }
}

TEST_CASE("discovery: which URLs a person may name") {
  for (const char* url :
       {"https://id.example", "https://id.example:8443/realms/a", "http://localhost:9000",
        "http://127.0.0.1:9000/a", "http://[::1]:9000", "https://[2001:db8::1]/x"}) {
    INFO(url);
    CHECK(check_url(url, "the URL"));
  }
  for (const char* url :
       {"", "id.example", "http://id.example", "http://127.evil.example",
        "http://localhost.evil.example", "https://", "https://:80", "https://user@id.example",
        "https://id.example/#a", "https://id.example/?a=b", "https://id.example/a b",
        "https://id.example/\"", "ftp://id.example", "https://id.example/\xc3\xa4"}) {
    INFO(url);
    CHECK(check_url(url, "the URL").error().code == ErrorCode::invalid_argument);
  }
  CHECK(check_url("https://id.example/keys?a=b", "the URL", true));
}

TEST_CASE("discovery: the parts of a URL") {
  CHECK(origin_of("https://id.example:8443/a/b?c") == "https://id.example:8443");
  CHECK(host_of("https://id.example:8443/a") == "id.example");
  CHECK(host_of("http://[::1]:80/a") == "[::1]");
  CHECK(host_of("http://[::1]") == "[::1]");
  CHECK(path_of("https://id.example/a/b?c") == "/a/b");
  CHECK(path_of("https://id.example/").empty());
  CHECK(path_of("https://id.example").empty());
}

}  // namespace assay::mcp
