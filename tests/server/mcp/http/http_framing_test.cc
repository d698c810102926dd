// Tests HTTP messages byte by byte: the size and the end of a body, headers, connections with
// several requests, and old clients.
#include <string>

#include "tests/server/mcp/http/raw_http.h"
#include "tests/server/mcp/http/shared_server.h"

namespace assay::mcp {

using namespace test;

TEST_CASE("http: oversize bodies are refused, declared or chunked") {
  HttpOptions options;
  options.max_body_bytes = 10'000;
  RunningHttp server(options);
  const std::string fits = R"({"jsonrpc":"2.0","id":1,"method":"ping","params":{"pad":")" +
                           std::string(9'000, 'x') + "\"}}";
  CHECK(http_post(server.url(), {}, fits, "application/json", kTimeoutMs)->status == 200);
  CHECK(talk(server.port, raw_post("", std::string(10'001, ' '))).rfind("HTTP/1.1 413", 0) == 0);
  // The header announces a body that is too large. The server must refuse it at once, and not wait
  // for the bytes.
  CHECK(talk(server.port,
             "POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: "
             "application/json\r\nContent-Length: 99999999999\r\n\r\n")
            .rfind("HTTP/1.1 413", 0) == 0);

  const std::string head =
      "POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: "
      "application/json\r\nTransfer-Encoding: chunked\r\n\r\n";
  const std::string chunk = "1000\r\n" + std::string(4096, ' ') + "\r\n";
  CHECK(talk(server.port, head + chunk + chunk + chunk + "0\r\n\r\n").rfind("HTTP/1.1 413", 0) ==
        0);
  const UniqueFd endless = connect_to(server.port);
  REQUIRE(send_text(endless.get(), head));
  std::size_t sent = 0;
  while (sent < (64U << 20) && send_text(endless.get(), chunk)) sent += chunk.size();
  CHECK(sent < (64U << 20));  // the server has stopped reading
  CHECK(talk(server.port,
             "POST /mcp HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Type: "
             "application/json\r\nTransfer-Encoding: chunked\r\n\r\n28\r\n" +
                 kPing + "\r\n0\r\n\r\n")
            .find("\"result\":{}") != std::string::npos);
}

TEST_CASE("http: a body with an ambiguous end is refused and ends the connection") {
  auto& server = shared_server();
  const std::string start =
      "POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n";
  for (const char* headers :
       {"Content-Length: 40\r\nContent-Length: 3\r\n",
        "Content-Length: 40\r\nTransfer-Encoding: chunked\r\n", "Content-Length: -1\r\n",
        "Content-Length: 4x\r\n", "Transfer-Encoding: gzip, chunked\r\n", ""}) {
    INFO(headers);
    const std::string text =
        talk(server.port,
             start + headers + "\r\n" + kPing + "GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n");
    CHECK(text.rfind("HTTP/1.1 4", 0) == 0);
    CHECK(text.find("HTTP/1.1", 8) ==
          std::string::npos);  // the following bytes were not read as a request
  }
}

TEST_CASE("http: too many headers, or too much in them") {
  auto& server = shared_server();
  std::string few, many, large;
  for (int i = 0; i < 50; ++i) few += "X-" + std::to_string(i) + ": 1\r\n";
  for (int i = 0; i < 70; ++i) many += "X-" + std::to_string(i) + ": 1\r\n";
  for (int i = 0; i < 10; ++i)
    large += "X-" + std::to_string(i) + ": " + std::string(4'000, 'x') + "\r\n";
  CHECK(
      talk(server.port, raw_post("Connection: close\r\n" + few, kPing)).rfind("HTTP/1.1 200", 0) ==
      0);
  CHECK(talk(server.port, raw_post(many, kPing)).rfind("HTTP/1.1 431", 0) == 0);
  CHECK(talk(server.port, raw_post(large, kPing)).rfind("HTTP/1.1 431", 0) == 0);
}

TEST_CASE("http: one connection serves many requests, the refused ones too") {
  auto& server = shared_server();
  const UniqueFd fd = connect_to(server.port);
  for (int i = 0; i < 3; ++i) {
    REQUIRE(send_text(fd.get(), raw_post("", kPing)));
    CHECK(receive(fd.get(), "\"result\":{}}").rfind("HTTP/1.1 200", 0) == 0);
    REQUIRE(send_text(fd.get(), raw_post("", "{}")));
    CHECK(receive(fd.get(), "\"2.0\"}").rfind("HTTP/1.1 400", 0) == 0);
  }
}

TEST_CASE("http: 100 Continue comes before a body that waits for it, and not before a refusal") {
  auto& server = shared_server();
  const auto head = [](const std::string& type) {
    return "POST /mcp HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Type: " + type +
           "\r\nExpect: 100-continue\r\nContent-Length: " + std::to_string(kPing.size()) +
           "\r\n\r\n";
  };
  const UniqueFd fd = connect_to(server.port);
  REQUIRE(send_text(fd.get(), head("application/json")));
  CHECK(receive(fd.get(), "\r\n\r\n") == "HTTP/1.1 100 Continue\r\n\r\n");
  REQUIRE(send_text(fd.get(), kPing));
  CHECK(receive(fd.get()).rfind("HTTP/1.1 200 OK\r\n", 0) == 0);
  CHECK(talk(server.port, head("text/plain")).rfind("HTTP/1.1 415", 0) == 0);
  CHECK(talk(server.port, head("application/json") + kPing).rfind("HTTP/1.1 200", 0) == 0);
}

TEST_CASE("http: a client of HTTP/1.0 gets its answer, and its stream without chunks") {
  auto& server = shared_server();
  const auto old = [](std::string text) { return text.replace(text.find("1.1"), 3, "1.0"); };
  const std::string text = talk(server.port, old(raw_post("", kPing)));
  CHECK(text.rfind("HTTP/1.1 200", 0) == 0);
  CHECK(text.find("Connection: close") != std::string::npos);
  const std::string events =
      talk(server.port,
           old(raw_post(stateless_headers("wait"),
                        dump(stateless_call(1, "wait", {{"ms", 20}}, {{"progressToken", 1}})))));
  CHECK(events.find("Transfer-Encoding") == std::string::npos);
  CHECK(events.find("\r\n\r\ndata: {") != std::string::npos);
}

TEST_CASE("http: HEAD gets the head of an answer only") {
  auto& server = shared_server();
  const std::string text =
      talk(server.port, "HEAD /mcp HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");
  CHECK(text.rfind("HTTP/1.1 405", 0) == 0);
  CHECK(text.substr(text.size() - 4) == "\r\n\r\n");
}

TEST_CASE("http: answers are not compressed") {
  auto& server = shared_server();
  const std::string text =
      talk(server.port, raw_post("Connection: close\r\nAccept-Encoding: br, gzip\r\n",
                                 R"({"jsonrpc":"2.0","id":1,"method":"tools/list"})"));
  CHECK(text.find("Content-Encoding") == std::string::npos);
  CHECK(text.find("\"tools\"") != std::string::npos);
}

}  // namespace assay::mcp
