#include "server/edge/oauth_settings.h"

#include <filesystem>
#include <fstream>

#include "base/handle.h"
#include "server/mcp/oauth/discovery.h"
#include "tests/catch.h"

using namespace assay;
using assay::server::oauth_settings;
using assay::server::OAuthFlags;

namespace {

constexpr const char* kOwnUrl = "http://127.0.0.1:8080/mcp";
constexpr const char* kKeys =
    R"({"keys":[{"kty":"OKP","crv":"Ed25519","x":"11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo"}]})";

/// A file of keys that exists as long as the object.
struct KeyFile {
  std::filesystem::path path = std::filesystem::temp_directory_path() / new_handle("keys");
  explicit KeyFile(const std::string& text) { std::ofstream(path) << text; }
  ~KeyFile() { std::filesystem::remove(path); }
};

OAuthFlags flags_with(const KeyFile& file) {
  OAuthFlags flags;
  flags.issuers = {"https://id.example"};
  flags.key_sets = {file.path.string()};
  return flags;
}

Error problem_of(const OAuthFlags& flags, const std::string& own_url = kOwnUrl) {
  const auto oauth = oauth_settings(flags, own_url);
  REQUIRE_FALSE(oauth);
  return oauth.error();
}

}  // namespace

TEST_CASE("oauth settings: without an issuer there is no identity provider") {
  const auto oauth = oauth_settings({}, kOwnUrl);
  REQUIRE(oauth);
  CHECK(*oauth == nullptr);
}

TEST_CASE("oauth settings: the resource is the public URL") {
  const KeyFile file(kKeys);
  OAuthFlags flags = flags_with(file);
  const auto own = oauth_settings(flags, kOwnUrl);
  REQUIRE(own);
  CHECK((*own)->resource.url == kOwnUrl);
  CHECK((*own)->resource.issuers == std::vector<std::string>{"https://id.example"});
  CHECK((*own)->resource.scopes.front().theirs == "practice");
  flags.public_url = "https://assay.example/mcp";
  flags.scopes = {"a:score=score", "a=b=practice"};
  const auto named = oauth_settings(flags, "");
  REQUIRE(named);
  CHECK((*named)->resource.url == "https://assay.example/mcp");
  CHECK((*named)->resource.scopes.front().theirs == "a=b");
  CHECK((*named)->resource.scopes.back().theirs == "a:score");
}

TEST_CASE("oauth settings: wrong flags are named") {
  const KeyFile file(kKeys);
  const OAuthFlags fine = flags_with(file);
  CHECK(problem_of(fine, "").code == ErrorCode::invalid_argument);  // no URL is known
  for (const char* scope : {"", "x", "=score", "a b=score", "a=admin", "\"=score"}) {
    INFO(scope);
    OAuthFlags flags = fine;
    flags.scopes = {scope};
    const Error error = problem_of(flags);
    CHECK(error.code == ErrorCode::invalid_argument);
    CHECK(error.message.find("practice or score") != std::string::npos);
  }
  OAuthFlags flags = fine;
  flags.issuers = {"http://id.example"};
  CHECK(problem_of(flags).code == ErrorCode::invalid_argument);
  flags = fine;
  flags.issuers = {"https://id.example", "https://id.example"};
  CHECK(problem_of(flags).code == ErrorCode::invalid_argument);
  flags = fine;
  flags.issuers.emplace_back("https://other.example");
  CHECK(problem_of(flags).message.find("once for each") != std::string::npos);
  for (const char* url : {"assay.example", "http://assay.example/mcp", "https://Assay.example/mcp",
                          "https://assay.example:443/mcp", "https://assay.example/mcp?a"}) {
    INFO(url);
    flags = fine;
    flags.public_url = url;
    CHECK(problem_of(flags).code == ErrorCode::invalid_argument);
  }
  flags = fine;
  flags.key_sets = {"http://id.example/keys"};
  CHECK(problem_of(flags).code == ErrorCode::invalid_argument);
}

TEST_CASE("oauth settings: a file of keys must be usable at the start") {
  OAuthFlags flags = flags_with(KeyFile(kKeys));  // the file is removed again
  CHECK(problem_of(flags).code == ErrorCode::not_found);
  const KeyFile wrong("{}");
  CHECK(problem_of(flags_with(wrong)).code == ErrorCode::corrupt);
  CHECK(problem_of(flags_with(wrong)).message.find(wrong.path.string()) != std::string::npos);
}
