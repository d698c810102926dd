// Tests the client with this project's server, over HTTP and over the pipes of a child process, in
// both protocol eras.
#include "server/mcp/client/client.h"

#include <unistd.h>

#include <atomic>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "base/handle.h"
#include "server/mcp/http/tokens.h"
#include "server/mcp/stdio/lines.h"
#include "server/mcp/stdio/stdio_server.h"
#include "tests/server/mcp/fixture.h"

namespace assay::mcp {
namespace {

using namespace test;

/// Returns the command that runs this program with one hidden test case, which is a server.
std::vector<std::string> self(const std::string& test_case) {
  return {"/proc/self/exe", test_case, "-o", "/dev/null"};
}

void check_calls(Client& client) {
  auto names = client.list_tools();
  REQUIRE(names);
  CHECK(names->size() == 6);
  CHECK(names->front() == "add");
  auto sum = client.call_tool("add", {{"a", 20}, {"b", 22}});
  REQUIRE(sum);
  CHECK_FALSE(sum->is_error);
  CHECK(sum->text == "sum 42");
  CHECK(sum->structured["sum"] == 42);
  auto bad = client.call_tool("add", {{"a", "x"}, {"b", 1}});
  REQUIRE(bad);
  CHECK(bad->is_error);
  CHECK(bad->text.find("'a' must be of type integer") != std::string::npos);
  auto unknown = client.call_tool("nope", nullptr);
  REQUIRE_FALSE(unknown);
  CHECK(unknown.error().code == ErrorCode::invalid_argument);
  CHECK(unknown.error().message.find("valid: add") != std::string::npos);
  auto late = client.call_tool("wait", {{"ms", 5'000}}, 100);
  REQUIRE_FALSE(late);
  CHECK(late.error().code == ErrorCode::unavailable);
  CHECK(client.call_tool("add", {{"a", 1}, {"b", 1}})->text == "sum 2");
}

void check_threads(Client& client) {
  std::vector<std::thread> threads;
  std::atomic<int> good{0};
  for (int t = 0; t < 8; ++t) {
    threads.emplace_back([&client, &good, t] {
      for (int i = 0; i < 20; ++i) {
        const auto result = client.call_tool("add", {{"a", t}, {"b", i}});
        if (result && result->structured["sum"] == t + i) ++good;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(good == 160);
}

}  // namespace

// The following hidden test cases are servers. Other test cases start them in child processes.
TEST_CASE("serve stdio", "[.serve]") {
  const auto server = make_server();
  ::_exit(serve_stdio(*server, {}));
}

TEST_CASE("serve stdio legacy only", "[.serve]") {
  // This server is the real dispatcher behind a filter. The filter refuses requests of the
  // stateless era, as servers before 2026 do.
  const auto server = make_server();
  LineReader lines(STDIN_FILENO, kMaxMessageBytes);
  bool initialized = false;
  while (auto line = lines.next()) {
    auto message = parse_message(line->text);
    if (!message) continue;
    initialized = initialized || message->method == "notifications/initialized";
    const bool known = message->method == "initialize" || initialized;
    if (!known || server->dispatcher().resolve(*message).stateless) {
      static_cast<void>(write_line(
          STDOUT_FILENO, dump(make_error(message->id, kMethodNotFound, "Method not found"))));
      continue;
    }
    std::thread([&server, message = *message] {
      const Outcome outcome = server->dispatcher().handle(message, {.scope = "stdio"});
      static std::mutex mutex;
      const std::lock_guard lock(mutex);
      if (outcome.response && !outcome.cancelled)
        static_cast<void>(write_line(STDOUT_FILENO, dump(*outcome.response)));
    }).detach();
  }
  ::_exit(0);
}

TEST_CASE("client: stdio in the newest revision") {
  auto client = Client::connect_stdio(self("serve stdio"));
  if (!client) FAIL(client.error().message);
  check_calls(**client);
  check_threads(**client);
}

TEST_CASE("client: stdio falls back to initialize") {
  auto client = Client::connect_stdio(self("serve stdio legacy only"));
  if (!client) FAIL(client.error().message);
  check_calls(**client);
}

TEST_CASE("client: http") {
  RunningHttp server;
  auto client = Client::connect_http(server.url());
  if (!client) FAIL(client.error().message);
  check_calls(**client);
  check_threads(**client);
}

TEST_CASE("client: http with a token") {
  HttpOptions options;
  options.tokens = std::make_shared<const Tokens>(
      *Tokens::parse("alice practice sha256:" + sha256_hex("t0ken"), {"practice"}));
  RunningHttp server(options);
  CHECK_FALSE(Client::connect_http(server.url()).has_value());
  auto client = Client::connect_http(server.url(), "t0ken");
  REQUIRE(client);
  CHECK((*client)->list_tools()->size() == 6);
}

TEST_CASE("client: a server that cannot be started, exits at once or speaks no MCP is an Error") {
  CHECK(Client::connect_stdio({}).error().code == ErrorCode::invalid_argument);
  CHECK(Client::connect_stdio({"/no/such/program"}).error().message.find("/no/such/program") !=
        std::string::npos);
  CHECK(Client::connect_stdio({"true"}).error().code == ErrorCode::unavailable);
  CHECK(Client::connect_stdio({"sh", "-c", "echo hello; echo '{}'; exit 3"}).error().code ==
        ErrorCode::unavailable);
  CHECK(Client::connect_http("http://127.0.0.1:9/mcp").error().code == ErrorCode::unavailable);
  CHECK(Client::connect_http("ftp://127.0.0.1/mcp").error().code == ErrorCode::invalid_argument);
}

TEST_CASE("client: a server that dies while it works is an Error, not a hang") {
  // The server is a shell script. It answers the probe, and exits when the call arrives, so the
  // call gets no answer.
  const std::string discover =
      R"({"jsonrpc":"2.0","id":1,"result":{"resultType":"complete","supportedVersions":["2026-07-28"],"capabilities":{},"ttlMs":0,"cacheScope":"public"}})";
  auto client =
      Client::connect_stdio({"sh", "-c", "read a; echo '" + discover + "'; read b; exit 1"});
  REQUIRE(client);
  const auto result = (*client)->call_tool("add", {{"a", 1}, {"b", 2}});
  REQUIRE_FALSE(result);
  CHECK(result.error().code == ErrorCode::unavailable);
  CHECK_FALSE((*client)->list_tools());
}

}  // namespace assay::mcp
