// Tests which requests an HTTP server with an identity provider accepts, and what it answers to
// the others.
#include "server/mcp/http/http_challenge.h"

#include "base/handle.h"
#include "server/mcp/http/tokens.h"
#include "server/mcp/oauth/access_tokens.h"
#include "tests/server/mcp/http/raw_http.h"
#include "tests/server/mcp/http/shared_server.h"
#include "tests/server/mcp/oauth/signing.h"

namespace assay::mcp {

using namespace test;

namespace {

constexpr const char* kOauthIssuer = "https://id.example";
constexpr const char* kOauthResource = "https://assay.example/mcp";

HttpOptions oauth_options(bool answers = true) {
  const std::vector<ScopeName> scopes = {{"practice", "practice"}, {"score", "score"}};
  auto keys = std::make_shared<IssuerKeys>([answers]() -> Result<JwkSet> {
    if (!answers) return fail(ErrorCode::unavailable, "no answer");
    return JwkSet::parse(signing_keys().key_set());
  });
  HttpOptions options;
  options.oauth = std::make_shared<const OAuth>(
      OAuth{{.url = kOauthResource, .issuers = {kOauthIssuer}, .scopes = scopes},
            AccessTokens({{kOauthIssuer, std::move(keys)}},
                         {.audiences = {kOauthResource}, .scopes = scopes})});
  return options;
}

std::map<std::string, std::string> bearer(const std::string& token) {
  return {{"Authorization", "Bearer " + token}};
}

std::string oauth_token(const std::string& scope, const std::string& subject = "alice",
                        std::int64_t valid_s = 300) {
  return signing_keys().ed25519.token({{"alg", "EdDSA"}},
                                      {{"iss", kOauthIssuer},
                                       {"sub", subject},
                                       {"aud", kOauthResource},
                                       {"exp", system_clock().unix_ms() / 1000 + valid_s},
                                       {"scope", scope}});
}

std::string challenge_of(const Answer& answer) {
  const auto found = answer.headers.find("www-authenticate");
  return found == answer.headers.end() ? "" : found->second;
}

/// A server with a tool that needs the scope `score` if its argument is true.
std::unique_ptr<Server> server_with_scored_tool() {
  auto server = make_server();
  Tool tool;
  tool.name = "scored";
  tool.input_schema = object_schema({{"scored", {{"type", "boolean"}}}});
  tool.call = [](const json&, RequestContext& context) {
    return ToolResult{.text = name_of(context.caller)};
  };
  tool.missing_scope = [](const json& arguments, const Caller& caller) {
    return arguments.value("scored", json()) == true && !caller.allows("score")
               ? std::string("score")
               : std::string();
  };
  REQUIRE(server->add_tool(std::move(tool)));
  return server;
}

}  // namespace

TEST_CASE("http oauth: a request without a token is told where to get one") {
  RunningHttp server(oauth_options());
  const Answer none = post(server, json::parse(kPing));
  CHECK(none.status == 401);
  CHECK(challenge_of(none) ==
        "Bearer realm=\"assay\", scope=\"practice\", resource_metadata="
        "\"https://assay.example/.well-known/oauth-protected-resource/mcp\"");
  const Answer expired =
      post(server, json::parse(kPing), bearer(oauth_token("practice", "alice", -300)));
  CHECK(expired.status == 401);
  CHECK(challenge_of(expired).find(
            R"(error="invalid_token", error_description="the token has expired")") !=
        std::string::npos);
  for (const char* path :
       {"/.well-known/oauth-protected-resource", "/.well-known/oauth-protected-resource/mcp"}) {
    const std::string text = talk(server.port, std::string("GET ") + path +
                                                   " HTTP/1.1\r\nHost: localhost\r\n"
                                                   "Connection: close\r\n\r\n");
    CHECK(text.rfind("HTTP/1.1 200", 0) == 0);
    CHECK(text.find(R"("authorization_servers":["https://id.example"])") != std::string::npos);
  }
  CHECK(talk(server.port,
             "GET /.well-known/oauth-protected-resource HTTP/1.1\r\n"
             "Host: evil.example\r\nConnection: close\r\n\r\n")
            .rfind("HTTP/1.1 403", 0) == 0);
  CHECK(talk(server.port,
             "POST /.well-known/oauth-protected-resource HTTP/1.1\r\n"
             "Host: localhost\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
            .rfind("HTTP/1.1 404", 0) == 0);
}

TEST_CASE("http oauth: the principal is the issuer and the subject") {
  RunningHttp server(oauth_options(), server_with_scored_tool());
  const Answer answer =
      post(server, legacy_call(1, "scored"), bearer(oauth_token("practice", "bob")));
  CHECK(answer.status == 200);
  CHECK(answer.body["result"]["content"][0]["text"] == "https://id.example bob");
}

TEST_CASE("http oauth: tokens of the token file stay valid beside the identity provider") {
  HttpOptions options = oauth_options();
  options.tokens = std::make_shared<const Tokens>(
      *Tokens::parse("alice practice sha256:" + sha256_hex("s3cret"), {"practice", "score"}));
  RunningHttp server(options, server_with_scored_tool());
  CHECK(post(server, json::parse(kPing), bearer("s3cret")).status == 200);
  CHECK(post(server, json::parse(kPing), bearer(oauth_token("practice"))).status == 200);
  const Answer unknown = post(server, json::parse(kPing), bearer("other"));
  CHECK(unknown.status == 401);
  CHECK(challenge_of(unknown).find("resource_metadata") != std::string::npos);
  // The holder of such a token cannot ask for another scope, so the tool itself answers.
  CHECK(post(server, legacy_call(1, "scored", {{"scored", true}}), bearer("s3cret")).status == 200);
}

TEST_CASE("http oauth: a call that needs another scope is refused before a stream begins") {
  RunningHttp server(oauth_options(), server_with_scored_tool());
  json call = legacy_call(7, "scored", {{"scored", true}});
  call["params"]["_meta"]["progressToken"] = "p";
  const Answer refused = post(server, call, bearer(oauth_token("practice")));
  CHECK(refused.status == 403);
  CHECK(refused.body["id"] == 7);
  CHECK(challenge_of(refused).find(R"(error="insufficient_scope")") != std::string::npos);
  CHECK(challenge_of(refused).find(R"(scope="practice score")") != std::string::npos);
  CHECK(challenge_of(refused).find("resource_metadata=") != std::string::npos);
  CHECK(post(server, call, bearer(oauth_token("practice score"))).status == 200);
  CHECK(post(server, legacy_call(1, "scored", {{"scored", false}}), bearer(oauth_token("practice")))
            .status == 200);
  CHECK(post(server, legacy_call(1, "scored", {{"scored", "x"}}), bearer(oauth_token("practice")))
            .status != 500);
}

TEST_CASE("http oauth: a token without any scope of this server") {
  RunningHttp server(oauth_options());
  const Answer refused = post(server, json::parse(kPing), bearer(oauth_token("openid")));
  CHECK(refused.status == 403);
  CHECK(challenge_of(refused).find(R"(error="insufficient_scope")") != std::string::npos);
  CHECK(challenge_of(refused).find(R"(scope="practice")") != std::string::npos);
}

TEST_CASE("http oauth: if the issuer does not answer, the client keeps its token") {
  RunningHttp server(oauth_options(false));
  const Answer answer = post(server, json::parse(kPing), bearer(oauth_token("practice")));
  CHECK(answer.status == 503);
  CHECK(answer.headers.contains("retry-after"));
  CHECK(challenge_of(answer).empty());
}

TEST_CASE("http oauth: the session of one principal is not found by another") {
  RunningHttp server(oauth_options());
  const json initialize = make_request(1, "initialize",
                                       {{"protocolVersion", "2025-11-25"},
                                        {"capabilities", json::object()},
                                        {"clientInfo", {{"name", "t"}, {"version", "1"}}}});
  const Answer opened = post(server, initialize, bearer(oauth_token("practice", "alice")));
  REQUIRE(opened.status == 200);
  const std::string session = opened.headers.find("mcp-session-id")->second;
  auto headers = bearer(oauth_token("practice", "bob"));
  headers["Mcp-Session-Id"] = session;
  CHECK(post(server, json::parse(kPing), headers).status == 404);
  headers = bearer(oauth_token("practice score", "alice"));  // a newer token of the same person
  headers["Mcp-Session-Id"] = session;
  CHECK(post(server, json::parse(kPing), headers).status == 200);
}

}  // namespace assay::mcp
