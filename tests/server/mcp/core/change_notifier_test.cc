// Tests how the notifications of changes reach clients: through the notifier, subscriptions/listen,
// and subscriptions of session-based clients. Also tests log messages.
#include "server/mcp/core/change_notifier.h"

#include <mutex>

#include "server/mcp/core/session.h"
#include "tests/server/mcp/fixture.h"

namespace assay::mcp {
namespace {

using namespace test;

std::unique_ptr<Server> make_changing_server() {
  ServerInfo info{"changing", "", "1", ""};
  info.features = {.logging = true,
                   .tools_change = true,
                   .prompts_change = false,
                   .resources_change = false,
                   .resources_update = true};
  auto server = std::make_unique<Server>(std::move(info));
  for (const char* uri : {"doc://a", "doc://b"}) {
    REQUIRE(server->add_resource(
        {.uri = uri, .name = uri, .read = [=](RequestContext&) -> Result<ReadResult> {
           return one_text(uri, "text/plain", "x");
         }}));
  }
  Tool tool{"log",
            "",
            "Logs.",
            object_schema(json::object()),
            nullptr,
            nullptr,
            [](const json&, RequestContext& context) {
              for (const LogLevel level : {LogLevel::debug, LogLevel::info, LogLevel::error})
                context.log(level, "test", to_string(level));
              return ToolResult{false, "logged", nullptr};
            }};
  tool.interactive = true;
  REQUIRE(server->add_tool(std::move(tool)));
  return server;
}

/// Collects messages from any thread.
class Heard {
 public:
  void add(const json& message) {
    const std::lock_guard lock(mutex_);
    messages_.push_back(message);
  }
  std::vector<json> all() const {
    const std::lock_guard lock(mutex_);
    return messages_;
  }
  std::size_t count() const { return all().size(); }

 private:
  mutable std::mutex mutex_;
  std::vector<json> messages_;
};

json listen_request(json filter) {
  return make_request("sub", "subscriptions/listen",
                      {{"notifications", std::move(filter)}, {"_meta", meta()}});
}

}  // namespace

TEST_CASE("notifier: a listener is called while it lives") {
  ChangeNotifier notifier;
  int heard = 0;
  {
    const ChangeNotifier::Listener listener = notifier.listen([&](const Change&) { ++heard; });
    notifier.publish({Change::Kind::tools});
  }
  notifier.publish({Change::Kind::tools});
  CHECK(heard == 1);
}

TEST_CASE("listen: acknowledges what it will report, reports only that, and ends when cancelled") {
  const auto server = make_changing_server();
  Heard heard;
  TransportContext exchange;
  exchange.scope = "here";
  exchange.notify = [&](const json& message) { heard.add(message); };
  const auto parsed =
      parse_message(dump(listen_request({{"toolsListChanged", true},
                                         {"promptsListChanged", true},
                                         {"resourceSubscriptions", {"doc://a", "doc://none"}}})));
  Outcome outcome;
  std::thread stream([&] { outcome = server->dispatcher().handle(*parsed, exchange); });
  REQUIRE(eventually([&] { return heard.count() == 1; }));
  const json first = heard.all()[0];
  CHECK(first["method"] == "notifications/subscriptions/acknowledged");
  CHECK(first["params"]["notifications"] ==
        json{{"toolsListChanged", true}, {"resourceSubscriptions", {"doc://a"}}});
  CHECK(first["params"]["_meta"][kMetaSubscription] == "sub");
  server->publish({Change::Kind::prompts});
  server->publish({Change::Kind::resource_updated, "doc://b"});
  server->publish({Change::Kind::resource_updated, "doc://a"});
  REQUIRE(eventually([&] { return heard.count() == 2; }));
  CHECK(heard.all()[1]["method"] == "notifications/resources/updated");
  CHECK(heard.all()[1]["params"]["uri"] == "doc://a");
  CHECK(heard.all()[1]["params"]["_meta"][kMetaSubscription] == "sub");
  response_to(*server, make_notification("notifications/cancelled", {{"requestId", "sub"}}),
              {.scope = "here"});
  stream.join();
  CHECK(outcome.cancelled);
  CHECK(heard.count() == 2);
}

TEST_CASE("listen: a server that stops ends it with a result") {
  const auto server = make_changing_server();
  Heard heard;
  TransportContext exchange;
  exchange.notify = [&](const json& message) { heard.add(message); };
  const auto parsed = parse_message(dump(listen_request({{"toolsListChanged", true}})));
  Outcome outcome;
  std::thread stream([&] { outcome = server->dispatcher().handle(*parsed, exchange); });
  REQUIRE(eventually([&] { return heard.count() == 1; }));
  server->dispatcher().end();
  stream.join();
  CHECK_FALSE(outcome.cancelled);
  CHECK((*outcome.response)["result"]["_meta"][kMetaSubscription] == "sub");
  CHECK((*outcome.response)["result"]["resultType"] == "complete");
}

TEST_CASE("listen: malformed filters, no stream, no capability") {
  const auto server = make_changing_server();
  TransportContext exchange;
  exchange.notify = [](const json&) {};
  for (const json& filter :
       {json(nullptr), json(1), json{{"toolsListChanged", "yes"}},
        json{{"resourceSubscriptions", "doc://a"}}, json{{"resourceSubscriptions", {1}}}}) {
    INFO(filter.dump());
    CHECK(response_to(*server, listen_request(filter), exchange)["error"]["code"] ==
          kInvalidParams);
  }
  CHECK(response_to(*server, listen_request({{"toolsListChanged", true}}))["error"]["code"] ==
        kInvalidRequest);
  CHECK(response_to(*server, listen_request({{"taskIds", {"task_x"}}}),
                    exchange)["error"]["code"] == kMissingCapability);
  const auto plain = make_server();
  CHECK(response_to(*plain, listen_request({{"toolsListChanged", true}}),
                    exchange)["error"]["code"] == kMethodNotFound);
}

TEST_CASE("legacy: a subscription sends updates outside of any request until it is ended") {
  const auto server = make_changing_server();
  Heard heard;
  const auto session =
      std::make_shared<Session>("here", [&](const json& message) { heard.add(message); });
  const ChangeNotifier::Listener joined = server->dispatcher().join(*session);
  TransportContext exchange;
  exchange.session = session;
  server->publish({Change::Kind::tools});
  CHECK(heard.count() == 0);  // no message arrives before initialize
  response_to(*server, make_request(1, "initialize", {{"protocolVersion", "2025-06-18"}}),
              exchange);
  server->publish({Change::Kind::tools});
  CHECK(heard.count() == 1);
  const auto of = [](const char* method, const char* uri) {
    return make_request(2, method, {{"uri", uri}});
  };
  CHECK(response_to(*server, of("resources/subscribe", "doc://a"), exchange)["result"] ==
        json::object());
  server->publish({Change::Kind::resource_updated, "doc://a"});
  server->publish({Change::Kind::resource_updated, "doc://b"});
  CHECK(heard.count() == 2);
  response_to(*server, of("resources/unsubscribe", "doc://a"), exchange);
  server->publish({Change::Kind::resource_updated, "doc://a"});
  CHECK(heard.count() == 2);
  CHECK(response_to(*server, of("resources/subscribe", "doc://none"), exchange)["error"]["code"] ==
        kResourceNotFound);
  CHECK(response_to(*server, of("resources/subscribe", "doc://a"))["error"]["code"] ==
        kInvalidRequest);
}

TEST_CASE("logging: each era asks for a level in its own way, and no message comes unasked") {
  const auto server = make_changing_server();
  Heard heard;
  TransportContext exchange;
  exchange.notify = [&](const json& message) { heard.add(message); };
  response_to(*server, stateless_call(1, "log"), exchange);
  CHECK(heard.count() == 0);
  response_to(*server, stateless_call(1, "log", {}, {{kMetaLogLevel, "info"}}), exchange);
  REQUIRE(heard.count() == 2);
  CHECK(heard.all()[1]["params"] ==
        json{{"level", "error"}, {"logger", "test"}, {"data", "error"}});
  CHECK(response_to(*server, stateless_call(1, "log", {}, {{kMetaLogLevel, "loud"}}),
                    exchange)["error"]["code"] == kInvalidParams);
  exchange.session = std::make_shared<Session>("here", [](const json&) {});
  const auto set = [&](const json& level) {
    return response_to(*server, make_request(2, "logging/setLevel", {{"level", level}}), exchange);
  };
  CHECK(set("error")["result"] == json::object());
  response_to(*server, legacy_call(3, "log"), exchange);
  CHECK(heard.count() == 3);
  CHECK(set("loud")["error"]["code"] == kInvalidParams);
  CHECK(set(3)["error"]["code"] == kInvalidParams);
}

}  // namespace assay::mcp
