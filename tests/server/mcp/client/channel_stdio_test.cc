// Tests the errors of the stdio channel when the server's process ends or closes its output.
#include <chrono>
#include <string>

#include "server/mcp/client/channel.h"
#include "server/mcp/protocol/jsonrpc.h"
#include "tests/catch.h"

namespace assay::mcp {
namespace {

/// Returns the error of a request to a server that is the shell script `script`.
Error error_of(const std::string& script) {
  const auto channel = open_stdio_channel({"sh", "-c", script});
  REQUIRE(channel);
  const auto answer =
      (*channel)->request(make_request(1, "ping", nlohmann::json::object()), "2025-11-25", {});
  REQUIRE_FALSE(answer);
  return answer.error();
}

}  // namespace

TEST_CASE("stdio channel: an error names how the server's process ended") {
  for (const auto& [script, how] : {std::pair{"read request; exit 73", "exit status 73"},
                                    std::pair{"read request; kill -9 $$", "killed by SIGKILL"},
                                    std::pair{"read request; exec >&-; read end", "still runs"}}) {
    INFO(script);
    const Error error = error_of(script);
    CHECK(error.code == ErrorCode::unavailable);
    INFO(error.message);
    CHECK(error.message.find(how) != std::string::npos);
  }
}

TEST_CASE("stdio channel: a request after the server's end names the end too") {
  const auto channel = open_stdio_channel({"sh", "-c", "read request; exit 5"});
  REQUIRE(channel);
  const nlohmann::json ping = make_request(1, "ping", nlohmann::json::object());
  for (int i = 0; i < 2; ++i) {
    const auto answer = (*channel)->request(ping, "2025-11-25", {});
    REQUIRE_FALSE(answer);
    INFO(answer.error().message);
    CHECK(answer.error().code == ErrorCode::unavailable);
    CHECK(answer.error().message.find("exit status 5") != std::string::npos);
  }
}

}  // namespace assay::mcp
