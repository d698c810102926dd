// Tests every method of the protocol through the client, over HTTP and over pipes, in both protocol
// eras. Also tests event streams that break.
#include <unistd.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "server/mcp/client/client.h"
#include "server/mcp/stdio/stdio_server.h"
#include "tests/server/mcp/client/cutting_proxy.h"
#include "tests/server/mcp/client/whole_server.h"

namespace assay::mcp {
namespace {

using namespace test;

void check_everything(ProtocolClient& client) {
  const auto resources = client.list("resources/list", "resources");
  REQUIRE(resources);
  CHECK(resources->size() == 3);  // the list has two pages
  CHECK((*client.request("resources/read", {{"uri", "doc://b"}}))["contents"][0]["text"] ==
        "text of doc://b");
  CHECK(client.request("resources/read", {{"uri", "doc://none"}})
            .error()
            .message.find("doc://none") != std::string::npos);
  CHECK(client.list_resources()->size() == 3);
  CHECK(*client.read_resource("doc://b") == "text of doc://b");
  const ErrorCode missing = client.read_resource("doc://none").error().code;
  CHECK((missing == ErrorCode::not_found || missing == ErrorCode::invalid_argument));
  CHECK((*client.request("prompts/get", {{"name", "p"}}))["messages"][0]["content"]["text"] ==
        "hello");
  const json reference = {{"ref", {{"type", "ref/prompt"}, {"name", "p"}}},
                          {"argument", {{"name", "x"}, {"value", "t"}}}};
  CHECK((*client.request("completion/complete", reference))["completion"]["values"] == json{"two"});
  CHECK(client.request("no/such", json::object()).error().code == ErrorCode::not_found);

  std::vector<double> told;
  CallOptions options;
  options.progress = [&](double progress, double, const std::string& message) {
    told.push_back(progress);
    CHECK(message == "waiting");
  };
  CHECK(client.call_tool("wait", {{"ms", 250}}, options)->text == "waited");
  CHECK(told.size() >= 2);
  CHECK(std::is_sorted(told.begin(), told.end()));

  std::stop_source give_up;
  CallOptions stop;
  stop.stop = give_up.get_token();
  stop.progress = [&](double, double, const std::string&) { give_up.request_stop(); };
  const auto stopped = client.call_tool("wait", {{"ms", 60'000}}, stop);
  REQUIRE_FALSE(stopped);
  CHECK(stopped.error().code == ErrorCode::cancelled);

  CHECK(client.call_tool("job", {{"ms", 1}}, CallOptions{})->text == "waited at once");
  CallOptions task;
  task.as_task = true;
  CHECK(client.call_tool("job", {{"ms", 50}}, task)->text == "waited as a task");
  CHECK(client.call_tool("wait", {{"ms", 1}}, task)->text == "waited");  // never becomes a task
  std::stop_source give_up_task;
  task.stop = give_up_task.get_token();
  task.progress = [&](double, double, const std::string& message) {
    if (message == "waiting")
      give_up_task.request_stop();  // the message shows that the work has begun
  };
  CHECK(client.call_tool("job", {{"ms", 60'000}}, task).error().code == ErrorCode::cancelled);
}

}  // namespace

// This hidden test case is a server. Other test cases start it in a child process.
TEST_CASE("serve whole", "[.serve]") {
  const auto server = make_whole_server();
  ::_exit(serve_stdio(*server, {}));
}

TEST_CASE(
    "protocol client: everything, over HTTP, in both eras; a call that it gives up ends at the "
    "server") {
  const RunningWhole server;
  for (const bool legacy : {false, true}) {
    INFO(legacy);
    const int cancelled = traces().cancelled;
    ProtocolClient client(open_http_channel(server.url, ""));
    REQUIRE(client.connect(legacy));
    CHECK(client.version() == (legacy ? "2025-11-25" : "2026-07-28"));
    check_everything(client);
    CHECK(traces().cancelled.becomes(cancelled + 2));  // the call and the task
    CHECK(traces().waiting.becomes(0));
  }
}

TEST_CASE("protocol client: a broken stream of a legacy session is resumed where it broke") {
  const RunningWhole server;
  CuttingProxy proxy(server.port);
  ProtocolClient client(open_http_channel(proxy.url, ""));
  REQUIRE(client.connect(true));
  std::vector<double> told;
  CallOptions options;
  options.progress = [&](double progress, double, const std::string&) { told.push_back(progress); };
  const auto result = client.call_tool("wait", {{"ms", 1'500}}, options);
  REQUIRE(result);
  CHECK(result->text == "waited");
  CHECK(proxy.cuts == 1);
  CHECK(proxy.resumed >= 1);
  CHECK(told.size() >= 2);
  CHECK(std::is_sorted(told.begin(), told.end()));
  CHECK(std::adjacent_find(told.begin(), told.end()) == told.end());  // no event comes twice

  std::stop_source give_up;
  CallOptions stop;
  stop.stop = give_up.get_token();
  const int before_resumption = proxy.resumed;
  stop.progress = [&](double, double, const std::string&) {
    if (proxy.resumed > before_resumption) give_up.request_stop();
  };
  CHECK(client.call_tool("wait", {{"ms", 60'000}}, stop).error().code == ErrorCode::cancelled);
  CHECK(traces().waiting.becomes(0));
}

TEST_CASE(
    "protocol client: a stream that cannot be resumed is an error, and the call ends at the "
    "server") {
  const RunningWhole server;
  CuttingProxy proxy(server.port);
  proxy.refuse_resumption = true;
  ProtocolClient client(open_http_channel(proxy.url, ""));
  REQUIRE(client.connect(true));
  CallOptions options;
  options.progress = [](double, double, const std::string&) {};
  const auto result = client.call_tool("wait", {{"ms", 60'000}}, options);
  REQUIRE_FALSE(result);
  CHECK(result.error().code == ErrorCode::unavailable);
  CHECK(traces().waiting.becomes(0));
}

TEST_CASE("protocol client: everything, over a child's pipes, in both eras") {
  for (const bool legacy : {false, true}) {
    INFO(legacy);
    auto channel = open_stdio_channel({"/proc/self/exe", "serve whole", "-o", "/dev/null"});
    REQUIRE(channel);
    ProtocolClient client(std::move(*channel));
    REQUIRE(client.connect(legacy));
    check_everything(client);
  }
}

}  // namespace assay::mcp
