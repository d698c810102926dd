#include "server/mcp/http/http_cors.h"

#include "base/handle.h"
#include "server/mcp/http/tokens.h"
#include "tests/server/mcp/http/raw_http.h"
#include "tests/server/mcp/http/shared_server.h"

namespace assay::mcp {

using namespace test;

namespace {

constexpr const char* kChat = "https://chat.example";

HttpOptions with_origin() {
  HttpOptions options;
  options.allowed_origins = {kChat};
  options.tokens = std::make_shared<const Tokens>(
      *Tokens::parse("alice practice sha256:" + sha256_hex("s3cret"), {"practice"}));
  return options;
}

std::string preflight(const RunningHttp& server, const std::string& origin,
                      const std::string& requested =
                          "authorization, content-type, x-evil, "
                          "Mcp-Param-Region",
                      const std::string& path = "/mcp") {
  return talk(server.port, "OPTIONS " + path + " HTTP/1.1\r\nHost: localhost\r\nOrigin: " + origin +
                               "\r\nAccess-Control-Request-Method: POST\r\n"
                               "Access-Control-Request-Headers: " +
                               requested + "\r\nConnection: close\r\n\r\n");
}

bool shows(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("cors: a preflight of a listed origin needs no token") {
  RunningHttp server(with_origin());
  for (const char* path : {"/mcp", "/.well-known/oauth-protected-resource"}) {
    const std::string text = preflight(server, kChat,
                                       "authorization, content-type, x-evil, "
                                       "Mcp-Param-Region",
                                       path);
    CHECK(text.rfind("HTTP/1.1 204", 0) == 0);
    CHECK(shows(text, "Access-Control-Allow-Origin: https://chat.example\r\n"));
    CHECK(shows(text, "Access-Control-Allow-Methods: GET, POST, DELETE\r\n"));
    CHECK(shows(text,
                "Access-Control-Allow-Headers: authorization, content-type, mcp-param-region\r\n"));
    CHECK(shows(text, "Vary: Origin\r\n"));
    CHECK_FALSE(shows(text, "Credentials"));
    CHECK_FALSE(shows(text, "*"));
  }
}

TEST_CASE("cors: other origins get no header") {
  RunningHttp server(with_origin());
  for (const char* origin :
       {"https://evil.example", "http://chat.example", "https://chat.example:8443",
        "https://chat.example.evil.example", "null", "*"}) {
    INFO(origin);
    const std::string text = preflight(server, origin);
    CHECK(text.rfind("HTTP/1.1 403", 0) == 0);
    CHECK_FALSE(shows(text, "Access-Control"));
  }
  // A page on this machine may use the server, but is not listed.
  const std::string local = preflight(server, "http://localhost:6274");
  CHECK(local.rfind("HTTP/1.1 401", 0) == 0);
  CHECK_FALSE(shows(local, "Access-Control"));
  CHECK_FALSE(shows(preflight(shared_server(), kChat), "Access-Control"));
}

TEST_CASE("cors: a page of a listed origin can read each answer") {
  RunningHttp server(with_origin());
  const std::string origin = std::string("Origin: ") + kChat + "\r\nConnection: close\r\n";
  const std::string fine =
      talk(server.port, raw_post(origin + "Authorization: Bearer s3cret\r\n", kPing));
  CHECK(fine.rfind("HTTP/1.1 200", 0) == 0);
  const std::string refused = talk(server.port, raw_post(origin, kPing));
  CHECK(refused.rfind("HTTP/1.1 401", 0) == 0);
  for (const std::string& text : {fine, refused}) {
    CHECK(shows(text, "Access-Control-Allow-Origin: https://chat.example\r\n"));
    CHECK(shows(text,
                "Access-Control-Expose-Headers: Mcp-Session-Id, Mcp-Protocol-Version, "
                "WWW-Authenticate, Retry-After\r\n"));
  }
  const std::string call = dump(legacy_call(1, "add", {{"a", 1}, {"b", 2}}));
  std::string streamed = call;
  streamed.insert(streamed.find("\"params\":{") + 10, "\"_meta\":{\"progressToken\":1},");
  const std::string stream =
      talk(server.port, raw_post(origin + "Authorization: Bearer s3cret\r\n"
                                          "Accept: application/json, text/event-stream\r\n",
                                 streamed));
  CHECK(shows(stream, "text/event-stream"));
  CHECK(shows(stream, "Access-Control-Allow-Origin: https://chat.example\r\n"));
}

TEST_CASE("cors: what is an origin") {
  for (const char* origin :
       {"https://chat.example", "http://localhost:6274", "https://[::1]:8443"}) {
    INFO(origin);
    CHECK(check_origin(origin));
  }
  for (const char* origin : {"", "*", "null", "chat.example", "https://", "https://chat.example/",
                             "https://*.example", "https://a b", "https://a@b", "file:///x"}) {
    INFO(origin);
    CHECK(check_origin(origin).error().code == ErrorCode::invalid_argument);
  }
}

}  // namespace assay::mcp
