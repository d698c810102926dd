
#include "server/mcp/http/http_request.h"

#include "tests/catch.h"

namespace assay::mcp {
namespace {

using HeadState = ParsedHead::State;

const HeadLimits kLimits;
const std::string kHost = "Host: localhost\r\n";

ParsedHead head(const std::string& text) { return parse_head(text, kLimits); }

int refused(const std::string& headers, const std::string& request_line = "POST /mcp HTTP/1.1") {
  const ParsedHead check = head(request_line + "\r\n" + headers + "\r\n");
  return check.state == HeadState::refused ? check.status : 0;
}

}  // namespace

TEST_CASE("http head: complete at the blank line, and not before") {
  const std::string text =
      "POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Length: 2\r\n\r\n{}GET";
  const ParsedHead check = head(text);
  CHECK(check.state == HeadState::complete);
  CHECK(check.size == text.size() - 5);
  for (std::size_t i = 0; i < check.size; ++i)
    CHECK(head(text.substr(0, i)).state == HeadState::incomplete);
  CHECK(head("GET / HTTP/1.0\r\n\r\n").state == HeadState::complete);
}

TEST_CASE("http head: method, path and headers are read as they were sent") {
  const HttpRequest request = head(
                                  "POST /mcp?a=b#c HTTP/1.1\r\nHost:localhost\r\nX-One:  a, b\t "
                                  "\r\nx-one: c\r\nEmpty:\r\n\r\n")
                                  .request;
  CHECK(request.method == "POST");
  CHECK(request.path == "/mcp");
  CHECK_FALSE(request.http_1_0);
  CHECK(request.header("HOST") == "localhost");
  CHECK(request.lookup()("X-ONE") == "a, b");
  CHECK(request.header("Empty") == "");
  CHECK_FALSE(request.header("X").has_value());
  CHECK_FALSE(request.has_body());
  CHECK(head("GET /%6dcp HTTP/1.1\r\n\r\n").request.path == "/%6dcp");
  CHECK(head("GET / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n").request.has_body());
}

TEST_CASE("http head: the authority of an absolute target replaces the value of Host") {
  const auto of = [](const std::string& target) {
    return head("GET " + target + " HTTP/1.1\r\n" + kHost + "\r\n").request;
  };
  CHECK(of("http://a.example:80/mcp?x=1").path == "/mcp");
  CHECK(of("http://a.example:80/mcp?x=1").header("Host") == "a.example:80");
  CHECK(of("https://a.example").path == "/");
  CHECK(of("https://a.example?x").path == "/");
  CHECK(of("http:///mcp").header("Host") == "");
  CHECK(of("/mcp").header("Host") == "localhost");
  CHECK(of("ftp://a.example/mcp").header("Host") == "localhost");
}

TEST_CASE("http head: a client may send another request unless it says otherwise") {
  const auto keeps = [](const std::string& version, const std::string& headers) {
    return head("GET / " + version + "\r\n" + headers + "\r\n").request.keeps_connection();
  };
  CHECK(keeps("HTTP/1.1", ""));
  CHECK(keeps("HTTP/1.1", "Connection: keep-alive\r\n"));
  CHECK_FALSE(keeps("HTTP/1.1", "connection: Close\r\n"));
  CHECK_FALSE(keeps("HTTP/1.1", "Connection: x , close\r\n"));
  CHECK_FALSE(keeps("HTTP/1.0", ""));
  CHECK(keeps("HTTP/1.0", "Connection: Keep-Alive\r\n"));
}

TEST_CASE("http head: a head that two parsers could read differently is refused") {
  CHECK(refused(kHost) == 0);
  CHECK(refused(kHost + "X: a\tb \x80\r\n") == 0);
  CHECK(refused(kHost + " folded: 1\r\n") == 400);
  CHECK(refused(kHost + "\tfolded\r\n") == 400);
  CHECK(refused(kHost + "Content-Length : 3\r\n") == 400);
  CHECK(refused(kHost + "no colon\r\n") == 400);
  CHECK(refused(kHost + ": nameless\r\n") == 400);
  CHECK(refused(kHost + "X: a\nContent-Length: 3\r\n") == 400);
  CHECK(refused(kHost + "X: a\rContent-Length: 3\r\n") == 400);
  CHECK(refused(kHost + std::string("X: a\0b\r\n", 8)) == 400);
  CHECK(refused(kHost + kHost) == 400);
  CHECK(refused(kHost + "host: other\r\n") == 400);
  CHECK(refused(kHost + "Content-Length: 1\r\n") == 0);
  CHECK(refused(kHost + "Content-Length: 1\r\ncontent-length: 1\r\n") == 400);
  CHECK(refused(kHost + "Content-Length: 1\r\nTransfer-Encoding: chunked\r\n") == 400);
  CHECK(refused(kHost + "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n") == 400);
  CHECK(refused(kHost + "Range: bytes=0-1\r\n") == 400);
}

TEST_CASE("http head: the request line") {
  CHECK(refused(kHost, "GET /mcp?a=b HTTP/1.1") == 0);
  CHECK(refused(kHost, "GET  HTTP/1.1") == 400);
  CHECK(refused(kHost, "GET /a b HTTP/1.1") == 400);
  CHECK(refused(kHost, "GET /\x01 HTTP/1.1") == 400);
  CHECK(refused(kHost, "G\tT / HTTP/1.1") == 400);
  CHECK(refused(kHost, "AVERYLONGMETHODNAME / HTTP/1.1") == 400);
  CHECK(refused(kHost, "") == 400);
  CHECK(refused(kHost, "GET / HTTP/2.0") == 505);
  CHECK(refused(kHost, "GET / http/1.1") == 505);
  CHECK(refused(kHost, "GET /" + std::string(kLimits.max_target_bytes, 'x') + " HTTP/1.1") == 414);
}

TEST_CASE("http head: count and size") {
  std::string headers = kHost;
  for (std::size_t i = 1; i < kLimits.max_headers; ++i)
    headers += "X-" + std::to_string(i) + ": 1\r\n";
  CHECK(refused(headers) == 0);
  CHECK(refused(headers + "X: 1\r\n") == 431);
  CHECK(refused(kHost + "X: " + std::string(kLimits.max_bytes, 'x') + "\r\n") == 431);
  // A head without an end is refused as soon as it is too long.
  CHECK(head(std::string(kLimits.max_bytes - 1, 'x')).state == HeadState::incomplete);
  CHECK(head(std::string(kLimits.max_bytes, 'x')).status == 431);
}

namespace {

using BodyState = ChunkDecoder::State;

constexpr std::size_t kMaxBody = 100;
constexpr std::size_t kMaxFraming = 64;

BodyState state_after(const std::string& bytes) {
  ChunkDecoder decoder(kMaxBody, kMaxFraming);
  decoder.feed(bytes);
  return decoder.state();
}

}  // namespace

TEST_CASE("chunked body: the result does not depend on how the bytes are cut") {
  const std::string body = "4\r\nabcd\r\nA;name=value\r\n0123456789\r\n0\r\nTrailer: x\r\n\r\n";
  for (std::size_t step = 1; step <= body.size(); ++step) {
    INFO(step);
    ChunkDecoder decoder(kMaxBody, kMaxFraming);
    for (std::size_t at = 0; at < body.size(); at += step) {
      CHECK(decoder.state() == BodyState::incomplete);
      const std::string part = body.substr(at, step);
      CHECK(decoder.feed(part) == part.size());
    }
    CHECK(decoder.state() == BodyState::complete);
    CHECK(decoder.take_body() == "abcd0123456789");
  }
}

TEST_CASE("chunked body: bytes after its end are left alone") {
  ChunkDecoder decoder(kMaxBody, kMaxFraming);
  CHECK(decoder.feed("0\r\n\r\nGET /") == 5);
  CHECK(decoder.state() == BodyState::complete);
  CHECK(decoder.feed("GET /") == 0);
}

TEST_CASE("chunked body: anything but digits, CRLF and an extension is malformed") {
  for (const char* body : {"\r\n", "-1\r\n", "+1\r\n", "0x2\r\n", "zz\r\n", " 2\r\n", "2 \r\n",
                           "2 ;a\r\n", "2\n", "2\r\n{}XX0\r\n\r\n", "2\r\n{}\n",
                           "ffffffffffffffff\r\n", "2;\x01\r\n", "0\r\nTrailer\rx\r\n", ";a\r\n"}) {
    INFO(body);
    CHECK(state_after(body) == BodyState::malformed);
  }
  CHECK(state_after("2\r\n{}\r\n") == BodyState::incomplete);
  // The decoder does not wait for the end of a line that is already wrong.
  for (const char* body : {"z", "2z", "-", " ", ";", "2\r\n{}X", "2\r\n{}\rX"}) {
    INFO(body);
    CHECK(state_after(body) == BodyState::malformed);
  }
  for (const char* body : {"2", "2;", "2;name", "2\r", "2\r\n{}\r"}) {
    INFO(body);
    CHECK(state_after(body) == BodyState::incomplete);
  }
}

TEST_CASE("chunked body: data and framing have limits") {
  CHECK(state_after("64\r\n") == BodyState::incomplete);
  CHECK(state_after("65\r\n") == BodyState::too_large);
  CHECK(state_after("fffffffffffffff\r\n") == BodyState::too_large);
  CHECK(state_after("63\r\n" + std::string(99, 'x') + "\r\n2\r\n") == BodyState::too_large);
  CHECK(state_after("2;" + std::string(kMaxFraming, 'x')) == BodyState::malformed);
  CHECK(state_after("0\r\n" + std::string(kMaxFraming, 'x')) == BodyState::malformed);
}

}  // namespace assay::mcp
