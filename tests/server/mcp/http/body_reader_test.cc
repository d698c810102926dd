// Sends bodies that arrive later than their heads, over real sockets.
#include "server/mcp/http/body_reader.h"

#include <chrono>
#include <memory>
#include <string>

#include "base/handle.h"
#include "server/mcp/http/http_server.h"
#include "server/mcp/http/tokens.h"
#include "tests/server/mcp/fixture.h"
#include "tests/server/mcp/http/raw_http.h"

namespace assay::mcp {

using namespace test;

namespace {

/// Sends the head of a request with a body of `size` bytes, and the first `now` bytes of it. The
/// whole body is a ping with blanks at its end.
UniqueFd begin_upload(int port, std::size_t size, std::size_t now, const std::string& token = "") {
  UniqueFd fd = connect_to(port);
  const std::string head =
      "POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n" +
      (token.empty() ? "" : "Authorization: Bearer " + token + "\r\n") +
      "Content-Length: " + std::to_string(size) + "\r\n\r\n";
  REQUIRE(send_text(fd.get(), head + kPing + std::string(now - kPing.size(), ' ')));
  return fd;
}

/// Waits until bodies of so many bytes have arrived.
bool upload_bytes_become(int port, std::size_t bytes, const std::string& token = "") {
  const std::string request = "GET /metrics HTTP/1.1\r\nHost: localhost\r\n" +
                              (token.empty() ? "" : "Authorization: Bearer " + token + "\r\n") +
                              "Connection: close\r\n\r\n";
  const std::string line = "\nassay_upload_bytes " + std::to_string(bytes) + "\n";
  const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(60);
  while (std::chrono::steady_clock::now() < until)
    if (talk(port, request).find(line) != std::string::npos) return true;
  return false;
}

bool is_refused_as_busy(int fd) {
  const std::string text = receive(fd);
  return text.rfind("HTTP/1.1 503", 0) == 0 && text.find("Retry-After: 1") != std::string::npos &&
         text.find("too many bytes of requests are being received") != std::string::npos;
}

}  // namespace

TEST_CASE("body reader: the bytes of bodies that arrive slowly are capped") {
  HttpOptions options;
  options.max_upload_bytes = 10'000;
  RunningHttp server(options);
  const UniqueFd first = begin_upload(server.port, 9'000, 8'000);
  REQUIRE(upload_bytes_become(server.port, 8'000));
  const UniqueFd second = begin_upload(server.port, 9'000, 8'000);
  CHECK(is_refused_as_busy(second.get()));
  CHECK(answers_ping(server.port));  // a body that arrives with its head needs no place
  REQUIRE(send_text(first.get(), std::string(1'000, ' ')));
  CHECK(receive(first.get(), "\"result\":{}").rfind("HTTP/1.1 200", 0) == 0);
  CHECK(upload_bytes_become(server.port, 0));
  const UniqueFd third = begin_upload(server.port, 9'000, 8'000);
  REQUIRE(upload_bytes_become(server.port, 8'000));
  REQUIRE(send_text(third.get(), std::string(1'000, ' ')));
  CHECK(receive(third.get(), "\"result\":{}").rfind("HTTP/1.1 200", 0) == 0);
}

TEST_CASE("body reader: the bytes of bodies in chunks are capped") {
  HttpOptions options;
  options.max_upload_bytes = 10'000;
  RunningHttp server(options);
  const UniqueFd fd = connect_to(server.port);
  REQUIRE(send_text(fd.get(),
                    "POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
                    "Transfer-Encoding: chunked\r\n\r\n4e20\r\n" +
                        std::string(20'000, ' ')));
  CHECK(is_refused_as_busy(fd.get()));
  CHECK(upload_bytes_become(server.port, 0));
}

TEST_CASE("body reader: the slow bodies of one principal leave bytes for others") {
  HttpOptions options;
  options.max_upload_bytes = 20'000;
  options.principal_upload_bytes = 10'000;
  options.tokens = std::make_shared<const Tokens>(
      *Tokens::parse("alice practice sha256:" + sha256_hex("s3cret") +
                         "\nbob practice sha256:" + sha256_hex("hidden"),
                     {"practice"}));
  RunningHttp server(options);
  const UniqueFd held = begin_upload(server.port, 9'000, 8'000, "s3cret");
  REQUIRE(upload_bytes_become(server.port, 8'000, "hidden"));
  const UniqueFd refused = begin_upload(server.port, 9'000, 8'000, "s3cret");
  CHECK(receive(refused.get())
            .find("too many bytes of requests are being received with this token") !=
        std::string::npos);
  const UniqueFd other = begin_upload(server.port, 9'000, 8'000, "hidden");
  REQUIRE(upload_bytes_become(server.port, 16'000, "hidden"));
  for (const UniqueFd* fd : {&held, &other}) {
    REQUIRE(send_text(fd->get(), std::string(1'000, ' ')));
    CHECK(receive(fd->get(), "\"result\":{}").rfind("HTTP/1.1 200", 0) == 0);
  }
  CHECK(upload_bytes_become(server.port, 0, "hidden"));
}

}  // namespace assay::mcp
