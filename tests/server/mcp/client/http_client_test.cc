#include "server/mcp/client/http_client.h"

#include <string>

#include "tests/server/mcp/fixture.h"

namespace assay::mcp {

using namespace test;

TEST_CASE("http_post: bad URLs, headers, and answers that are too large") {
  CHECK(http_post("127.0.0.1", {}, "", "text/plain", 1000).error().code ==
        ErrorCode::invalid_argument);
  CHECK(http_post("http:///x", {}, "", "text/plain", 1000).error().code ==
        ErrorCode::invalid_argument);
  CHECK(
      http_post("http://127.0.0.1:9/", {{"X", "a\r\nY: b"}}, "", "text/plain", 1000).error().code ==
      ErrorCode::invalid_argument);
  RunningHttp server;
  const std::string list = R"({"jsonrpc":"2.0","id":1,"method":"tools/list"})";
  CHECK(http_post(server.url(), {}, list, "application/json", 5000, 100).error().code ==
        ErrorCode::resource_exhausted);
  CHECK(http_post(server.url(), {}, list, "application/json", 5000)->status == 200);
}

}  // namespace assay::mcp
