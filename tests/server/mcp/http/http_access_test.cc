// Tests who may use the HTTP server: the headers Host and Origin, tokens, and tokens for the
// metrics.
#include <memory>
#include <string>

#include "base/handle.h"
#include "server/mcp/http/http_metrics.h"
#include "server/mcp/http/tokens.h"
#include "tests/server/mcp/http/raw_http.h"
#include "tests/server/mcp/http/shared_server.h"

namespace assay::mcp {

using namespace test;

TEST_CASE("http: Host and Origin keep web pages out") {
  auto& server = shared_server();
  CHECK(talk(server.port, raw_post("Connection: close\r\n", kPing)).rfind("HTTP/1.1 200", 0) == 0);
  CHECK(talk(server.port, raw_post("Connection: close\r\n", kPing, "evil.example"))
            .rfind("HTTP/1.1 403", 0) == 0);
  CHECK(talk(server.port, raw_post("Connection: close\r\nOrigin: https://evil.example\r\n", kPing))
            .rfind("HTTP/1.1 403", 0) == 0);
  CHECK(talk(server.port, raw_post("Connection: close\r\nOrigin: http://localhost:6274\r\n", kPing))
            .rfind("HTTP/1.1 200", 0) == 0);
  CHECK(talk(server.port, "GET /healthz HTTP/1.1\r\nHost: evil.example\r\n\r\n", "\r\n\r\n")
            .rfind("HTTP/1.1 403", 0) == 0);
}

TEST_CASE("http: a server with tokens wants one") {
  HttpOptions options;
  options.tokens = std::make_shared<const Tokens>(
      *Tokens::parse("alice practice sha256:" + sha256_hex("s3cret"), {"practice"}));
  RunningHttp server(options);
  CHECK(post(server, json::parse(kPing)).status == 401);
  CHECK(post(server, json::parse(kPing), {{"Authorization", "Bearer wrong!"}}).status == 401);
  CHECK(post(server, json::parse(kPing), {{"Authorization", "Bearer s3cret"}}).status == 200);
}

TEST_CASE("http: without a token, a path that does not exist is not found") {
  HttpOptions options;
  options.tokens = std::make_shared<const Tokens>(
      *Tokens::parse("alice practice sha256:" + sha256_hex("s3cret"), {"practice"}));
  RunningHttp server(options);
  for (const char* line :
       {"GET /.well-known/oauth-protected-resource", "POST /register", "GET /"}) {
    INFO(line);
    CHECK(talk(server.port, line + std::string(" HTTP/1.1\r\nHost: localhost\r\n"
                                               "Content-Length: 0\r\nConnection: close\r\n\r\n"))
              .rfind("HTTP/1.1 404", 0) == 0);
  }
  for (const char* line : {"POST /mcp", "POST /mcp/", "GET /metrics", "HEAD /metrics"}) {
    INFO(line);
    CHECK(talk(server.port, line + std::string(" HTTP/1.1\r\nHost: localhost\r\n"
                                               "Connection: close\r\n\r\n"))
              .rfind("HTTP/1.1 401", 0) == 0);
  }
}

TEST_CASE("http: HEAD asks for the health and the metrics too") {
  auto& server = shared_server();
  for (const char* path : {"/healthz", "/metrics"}) {
    INFO(path);
    const std::string text =
        talk(server.port, std::string("HEAD ") + path +
                              " HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");
    CHECK(text.rfind("HTTP/1.1 200", 0) == 0);
    CHECK(text.find("Content-Length: ") != std::string::npos);
    CHECK(text.ends_with("\r\n\r\n"));  // no body
  }
}

TEST_CASE("http: the target may end with a slash or have the absolute form") {
  auto& server = shared_server();
  for (const char* target : {"/mcp/", "http://localhost/mcp", "HTTP://localhost:80/mcp"}) {
    INFO(target);
    std::string request = raw_post("Connection: close\r\n", kPing);
    request.replace(request.find("/mcp"), 4, target);
    CHECK(talk(server.port, request).rfind("HTTP/1.1 200", 0) == 0);
  }
  // The authority of the target counts, not the Host header.
  std::string evil = raw_post("Connection: close\r\n", kPing);
  evil.replace(evil.find("/mcp"), 4, "http://evil.example/mcp");
  CHECK(talk(server.port, evil).rfind("HTTP/1.1 403", 0) == 0);
}

TEST_CASE("http: metrics need a token if the server has tokens") {
  HttpOptions options;
  options.tokens = std::make_shared<const Tokens>(
      *Tokens::parse("alice practice sha256:" + sha256_hex("s3cret"), {"practice"}));
  options.more_metrics = [](MetricsText& text) { text.gauge("of_the_application", "More.", 7); };
  RunningHttp server(options);
  const std::string get = "GET /metrics HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n";
  CHECK(talk(server.port, get + "\r\n").rfind("HTTP/1.1 401", 0) == 0);
  CHECK(post(server, legacy_call(1, "add", {{"a", 1}, {"b", 2}}),
             {{"Authorization", "Bearer s3cret"}})
            .status == 200);
  CHECK(post(server, legacy_call(1, "refuse"), {{"Authorization", "Bearer s3cret"}}).status == 200);
  CHECK(talk(server.port, "nonsense\r\n\r\n").rfind("HTTP/1.1 400", 0) == 0);
  const std::string text = talk(server.port, get + "Authorization: Bearer s3cret\r\n\r\n");
  CHECK(text.rfind("HTTP/1.1 200", 0) == 0);
  for (const char* line :
       {"Content-Type: text/plain; version=0.0.4",
        R"(assay_messages_total{method="tools/call",outcome="ok"} 1)",
        R"(assay_messages_total{method="tools/call",outcome="failed"} 1)",
        R"(assay_http_responses_total{code="200"} 2)",
        R"(assay_http_responses_total{code="400"} 1)",
        R"(assay_http_responses_total{code="401"} 1)", "of_the_application 7",
        "assay_calls_running 0", R"(assay_message_seconds_count{method="tools/call"} 2)",
        R"(assay_tool_calls_total{tool="add",outcome="ok"} 1)",
        R"(assay_tool_calls_total{tool="refuse",outcome="failed"} 1)"}) {
    INFO(line);
    CHECK(text.find(line) != std::string::npos);
  }
}

}  // namespace assay::mcp
