#include "server/mcp/oauth/protected_resource.h"

#include "base/json.h"
#include "tests/catch.h"

namespace assay::mcp {
namespace {

const ProtectedResource kResource{
    .url = "https://assay.example/team/mcp",
    .issuers = {"https://id.example", "https://other.example"},
    .scopes = {{"a:practice", "practice"}, {"old:practice", "practice"}, {"a:score", "score"}}};
const std::string kStart = R"(Bearer realm="assay")";
const std::string kMetadata =
    R"(, resource_metadata="https://assay.example/.well-known/oauth-protected-resource/team/mcp")";

}  // namespace

TEST_CASE("protected resource: the metadata and its places") {
  const auto metadata = nlohmann::json::parse(kResource.metadata());
  CHECK(metadata["resource"] == "https://assay.example/team/mcp");
  CHECK(metadata["authorization_servers"] ==
        nlohmann::json({"https://id.example", "https://other.example"}));
  CHECK(metadata["scopes_supported"] == nlohmann::json({"a:practice", "old:practice", "a:score"}));
  CHECK(metadata["bearer_methods_supported"] == nlohmann::json::array({"header"}));
  for (const char* path :
       {"/.well-known/oauth-protected-resource", "/.well-known/oauth-protected-resource/mcp",
        "/.well-known/oauth-protected-resource/team/mcp"})
    CHECK(kResource.describes(path));
  for (const char* path :
       {"/", "/mcp", "/.well-known/oauth-protected-resource/",
        "/.well-known/oauth-protected-resource/other", "/.well-known/oauth-protected-resourcemcp"})
    CHECK_FALSE(kResource.describes(path));
}

TEST_CASE("protected resource: the challenges") {
  CHECK(kResource.challenge({}) == kStart + R"(, scope="a:practice")" + kMetadata);
  CHECK(kResource.challenge({.error = "invalid_token", .reason = "it \"ended\"\r\nX: \\y"}) ==
        kStart + R"(, error="invalid_token", error_description="it endedX: y")" +
            R"(, scope="a:practice")" + kMetadata);
  CHECK(kResource.challenge({.error = "insufficient_scope", .scopes = {"practice", "score"}}) ==
        kStart + R"(, error="insufficient_scope", scope="a:practice a:score")" + kMetadata);
  CHECK(kResource.challenge({.error = "insufficient_scope", .scopes = {"score"}}) ==
        kStart + R"(, error="insufficient_scope", scope="a:score")" + kMetadata);
}

}  // namespace assay::mcp
