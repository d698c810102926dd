#include "server/mcp/stdio/stdio_server.h"

#include <fcntl.h>
#include <sys/wait.h>

#include <csignal>
#include <map>

#include "base/unique_fd.h"
#include "server/mcp/stdio/lines.h"
#include "tests/server/mcp/fixture.h"

namespace assay::mcp {
namespace {

using namespace test;

struct Pipe {
  Pipe() {
    int fds[2];
    REQUIRE(::pipe2(fds, O_CLOEXEC) == 0);
    read.reset(fds[0]);
    write.reset(fds[1]);
  }
  UniqueFd read, write;
};

/// A server on a separate thread, and pipes to the server.
class Lines {
 public:
  explicit Lines(StdioLimits limits = {}, StdioStop stop = {})
      : limits_(limits), stop_(std::move(stop)), reader_(from_.read.get(), 64 << 20) {
    ::signal(SIGPIPE, SIG_IGN);
    thread_ = std::thread([this] {
      clean = serve_lines(*server, to_.read.get(), from_.write.get(), limits_, stop_);
      from_.write.reset();
    });
  }
  ~Lines() {
    close();
    if (thread_.joinable()) thread_.join();
  }
  void send(const json& message) { send_raw(dump(message)); }
  void send_raw(const std::string& text) { REQUIRE(write_line(to_.write.get(), text).has_value()); }
  void close() { to_.write.reset(); }
  void stop_reading() { from_.read.reset(); }
  void join() { thread_.join(); }
  /// Returns the next message, or null at the end.
  json next() {
    const auto line = reader_.next();
    return line ? json::parse(line->text) : json(nullptr);
  }

  std::unique_ptr<Server> server = make_server();
  std::atomic<bool> clean{false};

 private:
  const StdioLimits limits_;
  const StdioStop stop_;
  Pipe to_, from_;
  LineReader reader_;
  std::thread thread_;
};

json ping(int id) { return make_request(id, "ping", json::object()); }

}  // namespace

TEST_CASE("lines: blank ones are skipped, and the last one needs no line break") {
  Pipe pipe;
  REQUIRE(::write(pipe.write.get(), "a\n\n \r\nb\r\nc", 10) == 10);
  pipe.write.reset();
  LineReader reader(pipe.read.get(), 100);
  CHECK(reader.next()->text == "a");
  CHECK(reader.next()->text == "b");
  CHECK(reader.next()->text == "c");
  CHECK_FALSE(reader.next().has_value());
  CHECK_FALSE(reader.next().has_value());
}

TEST_CASE("lines: an oversize line is reported once, and the next one is intact") {
  Pipe pipe;
  std::thread writer([&] {
    const std::string text = std::string(500'000, 'x') + "\nshort\n";
    for (std::size_t done = 0; done < text.size();)
      done += static_cast<std::size_t>(::write(pipe.write.get(), text.data() + done,
                                               std::min<std::size_t>(text.size() - done, 10'000)));
    pipe.write.reset();
  });
  LineReader reader(pipe.read.get(), 1000);
  const auto first = reader.next();
  REQUIRE(first);
  CHECK(first->oversize);
  CHECK(first->text.empty());
  CHECK(reader.next()->text == "short");
  CHECK_FALSE(reader.next().has_value());
  writer.join();
}

TEST_CASE("stdio: both eras over one pipe, and a clean end") {
  Lines server;
  server.send(make_request(1, "server/discover", {{"_meta", meta()}}));
  CHECK(server.next()["result"]["resultType"] == "complete");
  server.send(make_request(2, "initialize", {{"protocolVersion", "2025-06-18"}}));
  CHECK(server.next()["result"]["protocolVersion"] == "2025-06-18");
  server.send(make_notification("notifications/initialized", json::object()));
  server.send(legacy_call(3, "add", {{"a", 1}, {"b", 2}}));
  CHECK(server.next()["result"]["structuredContent"]["sum"] == 3);
  server.send(stateless_call("four", "add", {{"a", 2}, {"b", 2}}));
  const json four = server.next();
  CHECK(four["id"] == "four");
  CHECK(four["result"]["resultType"] == "complete");
  server.close();
  CHECK(server.next().is_null());
  server.join();
  CHECK(server.clean);
}

TEST_CASE("stdio: bad lines are answered and the conversation goes on") {
  Lines server;
  server.send_raw("{nonsense");
  CHECK(server.next()["error"]["code"] == kParseError);
  server.send_raw("[]");
  CHECK(server.next()["error"]["code"] == kInvalidRequest);
  server.send_raw(std::string(static_cast<std::size_t>(kMaxMessageBytes) + 10, '['));
  CHECK(server.next()["error"]["code"] == kInvalidRequest);
  server.send(ping(1));
  CHECK(server.next()["id"] == 1);
}

TEST_CASE("stdio: a long call blocks neither ping nor other calls") {
  Lines server;
  server.send(legacy_call("slow", "wait", {{"ms", 400}}));
  server.send(ping(1));
  server.send(legacy_call(2, "add", {{"a", 1}, {"b", 1}}));
  CHECK(server.next()["id"] == 1);
  CHECK(server.next()["id"] == 2);
  CHECK(server.next()["id"] == "slow");
}

TEST_CASE("stdio: a cancelled call is not answered, also when it still waits for a thread") {
  StdioLimits limits;
  limits.threads = 1;
  Lines server(limits);
  const int cancelled = traces().cancelled;
  server.send(stateless_call("running", "wait"));
  server.send(stateless_call("queued", "wait"));
  for (const char* id : {"queued", "running"})
    server.send(make_notification("notifications/cancelled", {{"requestId", id}}));
  server.send(stateless_call("last", "add", {{"a", 1}, {"b", 1}}));
  CHECK(server.next()["id"] == "last");
  CHECK(traces().cancelled == cancelled + 2);
  server.close();
  CHECK(server.next().is_null());
}

TEST_CASE("stdio: calls beyond the queue's limit are refused") {
  StdioLimits limits;
  limits.threads = 1;
  limits.waiting = 1;
  limits.drain = std::chrono::milliseconds(0);
  Lines server(limits);
  server.send(legacy_call(1, "wait"));
  REQUIRE(traces().waiting.becomes(1));
  server.send(legacy_call(2, "wait"));
  server.send(legacy_call(3, "wait"));
  const json refused = server.next();
  CHECK(refused["id"] == 3);
  CHECK(refused["error"]["code"] == kInternalError);
}

TEST_CASE("stdio: end of input lets calls finish, then cancels them") {
  SECTION("finish") {
    Lines server;
    server.send(legacy_call(1, "wait", {{"ms", 200}}));
    server.close();
    CHECK(server.next()["result"]["content"][0]["text"] == "waited");
    server.join();
    CHECK(server.clean);
  }
  SECTION("cancel") {
    StdioLimits limits;
    limits.drain = std::chrono::milliseconds(100);
    Lines server(limits);
    server.send(legacy_call(1, "wait"));
    server.close();
    server.join();
    CHECK(server.clean);
  }
  SECTION("a client that is gone cancels at once") {
    Lines server;
    const int cancelled = traces().cancelled;
    server.send(legacy_call(1, "wait"));
    REQUIRE(traces().waiting.becomes(1));
    server.stop_reading();
    server.close();
    server.join();
    CHECK(server.clean);
    CHECK(traces().cancelled == cancelled + 1);
  }
}

TEST_CASE("stdio: progress comes before the answer and only with a token") {
  Lines server;
  server.send(stateless_call(1, "wait", {{"ms", 250}}, {{"progressToken", 9}}));
  int notifications = 0;
  json message = server.next();
  for (; message.contains("method"); message = server.next()) {
    ++notifications;
    CHECK(message["params"]["progressToken"] == 9);
  }
  CHECK(notifications >= 1);
  CHECK(message["id"] == 1);
}

TEST_CASE("stdio: many calls at once are all answered, each on one line") {
  Lines server;
  std::thread writer([&] {
    for (int i = 0; i < 200; ++i) server.send(legacy_call(i, "add", {{"a", i}, {"b", 1}}));
  });
  std::map<int, int> sums;
  int refused = 0;
  for (int i = 0; i < 200; ++i) {
    const json message = server.next();
    if (message.contains("error"))
      ++refused;
    else
      sums[message["id"]] = message["result"]["structuredContent"]["sum"];
  }
  writer.join();
  CHECK(refused == 0);
  REQUIRE(sums.size() == 200);
  for (const auto& [id, sum] : sums) CHECK(sum == id + 1);
}

TEST_CASE("stdio: a stop ends the server before the end of input, and running calls are answered") {
  std::stop_source now;
  Lines lines({}, {.now = now.get_token()});
  lines.send(legacy_call(1, "wait"));
  REQUIRE(traces().waiting.becomes(1));
  lines.send_raw(R"({"jsonrpc":"2.0","id":2,"method":"ping"})");
  CHECK(lines.next()["id"] == 2);
  now.request_stop();
  CHECK(lines.next()["id"] == 1);
  CHECK(lines.next() == nullptr);
  lines.join();
  CHECK(lines.clean);
}

TEST_CASE("stdio: after a request to stop soon, calls get no time at the end of input") {
  std::stop_source soon;
  Lines lines({.drain = kEventTimeout}, {.soon = soon.get_token()});
  lines.send(legacy_call(1, "wait"));
  REQUIRE(traces().waiting.becomes(1));
  soon.request_stop();
  lines.send_raw(R"({"jsonrpc":"2.0","id":2,"method":"ping"})");
  CHECK(lines.next()["id"] == 2);  // the server still reads
  const std::int64_t begin_ns = system_clock().monotonic_ns();
  lines.close();
  CHECK(lines.next()["id"] == 1);
  lines.join();
  CHECK(system_clock().monotonic_ns() - begin_ns <
        std::chrono::nanoseconds(kEventTimeout).count() / 2);
  CHECK(lines.clean);
}

TEST_CASE("stdio: serve_stdio keeps stdout clean and exits with 0 at end of input") {
  Pipe to, from;
  const pid_t child = ::fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    ::dup2(to.read.get(), STDIN_FILENO);
    ::dup2(from.write.get(), STDOUT_FILENO);
    // The child runs this program again with a single test case: the hidden case of client_test.cc
    // that is a server.
    ::execl("/proc/self/exe", "test_mcp", "serve stdio", "-o", "/dev/null",
            static_cast<char*>(nullptr));
    ::_exit(127);
  }
  to.read.reset();
  from.write.reset();
  REQUIRE(write_line(to.write.get(), dump(legacy_call(1, "chatty"))).has_value());
  LineReader reader(from.read.get(), 1 << 20);
  const auto line = reader.next();
  REQUIRE(line);
  const json answer = json::parse(line->text);
  CHECK(answer["result"]["content"][0]["text"] == "printed \xEF\xBF\xBD bytes");
  to.write.reset();
  CHECK_FALSE(reader.next().has_value());
  int status = -1;
  REQUIRE(::waitpid(child, &status, 0) == child);
  CHECK(status == 0);
}

}  // namespace assay::mcp
