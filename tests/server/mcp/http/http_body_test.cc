#include "server/mcp/http/http_body.h"

#include "tests/catch.h"

namespace assay::mcp {
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

TEST_CASE("chunked body: decoded alike however it is cut") {
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
