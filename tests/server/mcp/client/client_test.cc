// The client against this project's server, over HTTP and the pipes of a child process, in both
// eras.
#include "server/mcp/client/client.h"

#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <mutex>

#include "base/handle.h"
#include "server/mcp/client/http_client.h"
#include "server/mcp/http/http_server.h"
#include "server/mcp/http/tokens.h"
#include "server/mcp/stdio/lines.h"
#include "server/mcp/stdio/stdio_server.h"
#include "tests/server/mcp/fixture.h"
#include "tests/server/mcp/http/raw_http.h"

namespace assay::mcp {
namespace {

using namespace test;

/// Returns the command that runs this program with one hidden test case, which serves.
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

// Hidden cases: other cases start them as servers.
TEST_CASE("serve stdio", "[.serve]") {
  const auto server = make_server();
  ::_exit(serve_stdio(*server));
}

TEST_CASE("serve stdio legacy only", "[.serve]") {
  // The real dispatcher behind a filter that refuses the stateless era, as servers before 2026 do.
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
  // The shell answers the probe, then exits when the call arrives, so the second answer never
  // comes.
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

namespace {

using namespace test;

std::unique_ptr<Server> make_whole_server() {
  auto server =
      std::make_unique<Server>(ServerInfo{"whole", "", "1", ""},
                               ServerLimits{.page_size = 2, .tasks = {.poll_interval_ms = 20}});
  for (const char* name : {"a", "b", "c"}) {
    const std::string uri = std::string("doc://") + name;
    REQUIRE(server->add_resource(
        {.uri = uri, .name = name, .read = [uri](RequestContext&) -> Result<ReadResult> {
           return one_text(uri, "text/plain", "text of " + uri);
         }}));
  }
  REQUIRE(
      server->add_prompt({.name = "p",
                          .arguments = {{.name = "x", .complete = complete_from({"one", "two"})}},
                          .get = [](const Variables&, RequestContext&) -> Result<PromptResult> {
                            return PromptResult{"", {{"user", text_content("hello")}}};
                          }}));
  Tool job{"job",
           "",
           "Works.",
           object_schema({{"ms", {{"type", "integer"}}}}),
           nullptr,
           nullptr,
           [](const json& arguments, RequestContext&) {
             ToolResult later;
             later.work = [arguments](RequestContext& context) {
               ToolResult result = wait_tool(arguments, context);
               result.text += context.is_task ? " as a task" : " at once";
               return result;
             };
             return later;
           }};
  job.task_support = TaskSupport::optional;
  REQUIRE(server->add_tool(std::move(job)));
  REQUIRE(server->add_tool({"wait", "", "Waits.", object_schema({{"ms", {{"type", "integer"}}}}),
                            nullptr, nullptr, wait_tool}));
  return server;
}

/// Runs serve_http() for that server on its own thread.
class Running {
 public:
  Running() : server_(make_whole_server()) {
    HttpOptions options;
    std::promise<int> bound;
    options.listening = [&bound](int chosen) { bound.set_value(chosen); };
    thread_ = std::thread(
        [this, options] { serve_http(*server_, options, [this] { return stop_.load(); }); });
    port = bound.get_future().get();
    url = "http://127.0.0.1:" + std::to_string(port) + "/mcp";
  }
  ~Running() {
    stop_ = true;
    thread_.join();
  }
  int port = 0;
  std::string url;

 private:
  std::unique_ptr<Server> server_;
  std::atomic<bool> stop_{false};
  std::thread thread_;
};

/// A proxy between client and server. It cuts each event stream that answers a POST after its first
/// event, and counts the cuts and the resumed streams.
class CuttingProxy {
 public:
  explicit CuttingProxy(int server_port)
      : server_port_(server_port), listener_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    REQUIRE(::bind(listener_.get(), reinterpret_cast<sockaddr*>(&address), size) == 0);
    REQUIRE(::listen(listener_.get(), 16) == 0);
    REQUIRE(::getsockname(listener_.get(), reinterpret_cast<sockaddr*>(&address), &size) == 0);
    url = "http://127.0.0.1:" + std::to_string(ntohs(address.sin_port)) + "/mcp";
    thread_ = std::thread([this] { accept_all(); });
  }
  ~CuttingProxy() {
    stop_ = true;
    ::shutdown(listener_.get(), SHUT_RDWR);
    thread_.join();
    for (std::thread& connection : connections_) connection.join();
  }
  std::string url;
  std::atomic<int> cuts{0}, resumed{0};
  std::atomic<bool> refuse_resumption{false};

 private:
  void accept_all() {
    while (!stop_) {
      UniqueFd client(::accept(listener_.get(), nullptr, nullptr));
      if (!client) return;
      connections_.emplace_back([this, client = std::move(client)] { pass_on(client.get()); });
    }
  }

  void pass_on(int client) {
    const UniqueFd server = connect_to(server_port_);
    bool stream_of_post = false;
    std::string answer;
    char bytes[4096];
    while (true) {
      pollfd ends[2] = {{client, POLLIN, 0}, {server.get(), POLLIN, 0}};
      if (::poll(ends, 2, 10'000) <= 0) return;
      if (ends[0].revents != 0) {
        const ssize_t got = ::recv(client, bytes, sizeof bytes, 0);
        if (got <= 0) return;
        const std::string part(bytes, static_cast<std::size_t>(got));
        answer.clear();
        stream_of_post =
            stream_of_post ||
            part.find("progressToken") !=
                std::string::npos;  // the event is in the body, which may come after the head
        if (part.rfind("GET ", 0) == 0) {
          if (refuse_resumption) return;
          ++resumed;
        }
        if (!send_text(server.get(), part)) return;
      }
      if (ends[1].revents != 0) {
        const ssize_t got = ::recv(server.get(), bytes, sizeof bytes, 0);
        if (got <= 0) return;
        answer.append(bytes, static_cast<std::size_t>(got));
        if (!send_text(client, std::string(bytes, static_cast<std::size_t>(got)))) return;
        if (stream_of_post && answer.find("\nid: ") != std::string::npos &&
            answer.find("\n\n", answer.find("\nid: ")) != std::string::npos) {
          ++cuts;
          return;
        }
      }
    }
  }

  const int server_port_;
  UniqueFd listener_;
  std::atomic<bool> stop_{false};
  std::thread thread_;
  std::vector<std::thread> connections_;
};

void check_everything(ProtocolClient& client) {
  const auto resources = client.list("resources/list", "resources");
  REQUIRE(resources);
  CHECK(resources->size() == 3);  // from two pages
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
  CHECK(client.call_tool("wait", {{"ms", 1}}, task)->text == "waited");  // the tool makes no task
  std::stop_source give_up_task;
  task.stop = give_up_task.get_token();
  task.progress = [&](double, double, const std::string& message) {
    if (message == "waiting") give_up_task.request_stop();  // so the work has begun
  };
  CHECK(client.call_tool("job", {{"ms", 60'000}}, task).error().code == ErrorCode::cancelled);
}

}  // namespace

// Hidden case: another case starts it as a server.
TEST_CASE("serve whole", "[.serve]") {
  const auto server = make_whole_server();
  ::_exit(serve_stdio(*server));
}

TEST_CASE(
    "protocol client: everything, over HTTP, in both eras; a call that it gives up ends at the "
    "server") {
  const Running server;
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
  const Running server;
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
  const Running server;
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
