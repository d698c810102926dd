#include "server/edge/http_settings.h"

#include "tests/catch.h"

using namespace assay;
using assay::server::parse_address;

TEST_CASE("an address has a host and a port") {
  CHECK(parse_address("127.0.0.1:8080")->host == "127.0.0.1");
  CHECK(parse_address("127.0.0.1:8080")->port == 8080);
  CHECK(parse_address("localhost:0")->port == 0);
  CHECK(parse_address("[::1]:1")->host == "::1");
}

TEST_CASE("malformed addresses are refused, and the message shows the form") {
  for (const char* text : {"", ":", ":80", "127.0.0.1", "127.0.0.1:", "127.0.0.1:x",
                           "127.0.0.1:65536", "127.0.0.1:-1", "127.0.0.1:80x"}) {
    const auto address = parse_address(text);
    INFO(text);
    REQUIRE_FALSE(address);
    CHECK(address.error().message.find("HOST:PORT") != std::string::npos);
  }
}

TEST_CASE("only a loopback address is out of reach for other machines") {
  for (const char* text :
       {"0.0.0.0:80", "10.1.2.3:80", "example.org:80", "[::]:80", "128.0.0.1:80"}) {
    INFO(text);
    CHECK_FALSE(parse_address(text)->loopback);
  }
  for (const char* text : {"127.0.0.1:80", "127.1.2.3:80", "localhost:80", "[::1]:80"}) {
    INFO(text);
    CHECK(parse_address(text)->loopback);
  }
  CHECK(parse_address("[::]:80")->host == "::");
}
