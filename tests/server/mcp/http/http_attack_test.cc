// Attacks the HTTP server over raw sockets: with requests that two parsers could read differently,
// with false sizes, and with clients that keep the server busy without sending work. After each
// attack the server must answer the request of another client.
#include <poll.h>
#include <sys/resource.h>

#include <vector>

#include "server/mcp/http/http_server.h"
#include "tests/server/mcp/fixture.h"
#include "tests/server/mcp/http/raw_http.h"

namespace assay::mcp {
namespace {

using namespace test;

constexpr int kSlowReaders = 256;
constexpr int kStreams = 64;
constexpr std::int64_t kShortMs = 1000;
constexpr std::int64_t kLongMs = 600'000;
/// The longest time of a ping on a busy machine. A server whose threads all wait for clients that
/// are slow for kLongMs would not answer earlier than that.
constexpr int kSlowestPingMs = 60'000;

/// Returns options with which the server waits so long for a slow client.
HttpOptions waiting(std::int64_t ms) {
  HttpOptions options;
  options.header_timeout_ms = ms;
  options.body_timeout_ms = ms;
  options.write_timeout_ms = ms;
  options.idle_timeout_ms = ms;
  return options;
}

bool closed_by_server(int fd, int patience_ms = 60'000) {
  pollfd entry{fd, POLLIN, 0};
  char byte = 0;
  while (::poll(&entry, 1, patience_ms) == 1) {
    if (::recv(fd, &byte, 1, 0) <= 0) return true;
  }
  return false;
}

/// Sends `count` pings. Returns the time of the slowest ping in milliseconds.
double slowest_ping_ms(int port, int count) {
  double slowest = 0;
  for (int i = 0; i < count; ++i) {
    const auto start = std::chrono::steady_clock::now();
    REQUIRE(answers_ping(port, kSlowestPingMs));
    slowest = std::max(
        slowest, std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start)
                     .count());
  }
  return slowest;
}

int threads_of_this_process() {
  std::FILE* file = std::fopen("/proc/self/status", "r");
  REQUIRE(file != nullptr);
  char line[256];
  int threads = -1;
  while (std::fgets(line, sizeof(line), file) != nullptr) {
    if (std::sscanf(line, "Threads: %d", &threads) == 1) break;
  }
  std::fclose(file);
  return threads;
}

std::string chunked(const std::string& chunks) {
  return "POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: "
         "application/json\r\nTransfer-Encoding: chunked\r\n\r\n" +
         chunks;
}

}  // namespace

TEST_CASE("attack: 256 slow readers and 64 open streams do not starve a POST") {
  RunningHttp server(waiting(kLongMs));
  std::vector<UniqueFd> streams, readers;
  for (int i = 0; i < kStreams; ++i) {
    streams.push_back(connect_to(server.port));
    REQUIRE(send_text(
        streams.back().get(),
        raw_post(stateless_headers("wait"),
                 dump(stateless_call(i, "wait", {{"ms", 60'000}}, {{"progressToken", i}})))));
  }
  REQUIRE(traces().waiting.becomes(kStreams));
  // Each client requests more data than its socket can buffer, and reads nothing.
  const std::string list = raw_post("", R"({"jsonrpc":"2.0","id":1,"method":"tools/list"})");
  std::string many;
  for (int i = 0; i < 1000; ++i) many += list;
  for (int i = 0; i < kSlowReaders; ++i) {
    readers.push_back(connect_to(server.port, 4096));
    const ssize_t put =
        ::send(readers.back().get(), many.data(), many.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    REQUIRE(put > 0);
  }
  const double slowest = slowest_ping_ms(server.port, 50);
  WARN("slowest of 50 pings beside " << kSlowReaders << " slow readers and " << kStreams
                                     << " streams: " << slowest << " ms");
  CHECK(slowest < kSlowestPingMs);
  streams.clear();
  CHECK(traces().waiting.becomes(0));
}

TEST_CASE("attack: a client that never reads is cut off after the write timeout") {
  RunningHttp server(waiting(kShortMs));
  const UniqueFd fd = connect_to(server.port, 4096);
  const std::string list = raw_post("", R"({"jsonrpc":"2.0","id":1,"method":"tools/list"})");
  bool refused = false;
  // The server reads requests only while it can send their answers. So at some point the client
  // cannot send any more.
  for (int i = 0; i < 100'000 && !refused; ++i) refused = !send_text(fd.get(), list);
  CHECK(refused);
  CHECK(answers_ping(server.port));
}

TEST_CASE("attack: idle connections and unfinished headers hold no thread") {
  RunningHttp server(waiting(kLongMs));
  const int before = threads_of_this_process();
  std::vector<UniqueFd> open;
  for (int i = 0; i < 500; ++i) {
    open.push_back(connect_to(server.port));
    if (i % 2 == 0) REQUIRE(send_text(open.back().get(), "POST /mcp HTTP/1.1\r\nHost: loc"));
  }
  REQUIRE(answers_ping(server.port));
  // An incomplete request occupies a worker only for a moment, so the server needs few new threads.
  CHECK(threads_of_this_process() - before < 100);
  CHECK(slowest_ping_ms(server.port, 20) < kSlowestPingMs);
}

TEST_CASE("attack: headers, bodies and pauses that take too long are cut off") {
  RunningHttp server(waiting(kShortMs));
  const UniqueFd silent = connect_to(server.port);
  const UniqueFd half = connect_to(server.port);
  REQUIRE(send_text(half.get(), "POST /mcp HTTP/1.1\r\nHost: localhost\r\n"));
  const UniqueFd body = connect_to(server.port);
  REQUIRE(send_text(body.get(),
                    "POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: "
                    "application/json\r\nContent-Length: 100\r\n\r\n{"));
  const UniqueFd idle = connect_to(server.port);
  REQUIRE(send_text(idle.get(), raw_post("", kPing)));
  CHECK(receive(idle.get(), "\"result\":{}}").rfind("HTTP/1.1 200", 0) == 0);
  CHECK(receive(body.get()).rfind("HTTP/1.1 400", 0) == 0);
  for (const UniqueFd* fd : {&silent, &half, &idle}) CHECK(closed_by_server(fd->get()));
}

TEST_CASE("attack: sending the headers byte by byte gains no time") {
  RunningHttp server(waiting(kShortMs));
  const UniqueFd fd = connect_to(server.port);
  const auto start = std::chrono::steady_clock::now();
  bool closed = false;
  REQUIRE(send_text(fd.get(), "GET /healthz HTTP/1.1\r\nX: "));
  // The time limit is long, because builds with a sanitizer are slow.
  while (!closed &&
         std::chrono::steady_clock::now() - start < std::chrono::milliseconds(60 * kShortMs)) {
    static_cast<void>(send_text(fd.get(), "x"));
    closed = closed_by_server(fd.get(), 50);
  }
  CHECK(closed);  // no byte extended the time limit
}

TEST_CASE("attack: connections beyond the limit are refused, and the others go on") {
  HttpOptions options;
  options.max_connections = 20;
  RunningHttp server(options);
  std::vector<UniqueFd> open;
  for (int i = 0; i < 20; ++i) {
    open.push_back(connect_to(server.port));
    REQUIRE(send_text(open.back().get(), raw_post("", kPing)));
    REQUIRE(receive(open.back().get(), "\"result\":{}}").rfind("HTTP/1.1 200", 0) == 0);
  }
  const std::string refused = talk(server.port, raw_post("", kPing));
  CHECK(refused.rfind("HTTP/1.1 503", 0) == 0);
  CHECK(refused.find("Retry-After: 1") != std::string::npos);
  CHECK(refused.find("too many connections") != std::string::npos);
  REQUIRE(send_text(open.back().get(), raw_post("", kPing)));
  CHECK(receive(open.back().get(), "\"result\":{}}").rfind("HTTP/1.1 200", 0) == 0);
  open.clear();
  CHECK(eventually([&] {
    return talk(server.port, raw_post("Connection: close\r\n", kPing)).rfind("HTTP/1.1 200", 0) ==
           0;
  }));
}

TEST_CASE("attack: calls beyond the limit are refused, and short requests go on") {
  HttpOptions options;
  options.max_calls = 4;
  RunningHttp server(options);
  std::vector<UniqueFd> calls;
  for (int i = 0; i < 4; ++i) {
    calls.push_back(connect_to(server.port));
    REQUIRE(send_text(calls.back().get(),
                      raw_post(stateless_headers("wait"), dump(stateless_call(i, "wait")))));
  }
  REQUIRE(traces().waiting.becomes(4));
  const std::string refused =
      talk(server.port, raw_post(stateless_headers("wait") + "Connection: close\r\n",
                                 dump(stateless_call(9, "wait"))));
  CHECK(refused.rfind("HTTP/1.1 503", 0) == 0);
  CHECK(refused.find("too many calls") != std::string::npos);
  CHECK(answers_ping(server.port));
  calls.clear();
  CHECK(traces().waiting.becomes(0));
}

TEST_CASE("attack: bodies that never come are capped") {
  HttpOptions options;
  options.max_uploads = 4;
  RunningHttp server(options);
  std::vector<UniqueFd> uploads;
  const std::string head =
      "POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: "
      "1000\r\n\r\n";
  for (int i = 0; i < 8; ++i) {
    uploads.push_back(connect_to(server.port));
    REQUIRE(send_text(uploads.back().get(), head));
  }
  // The server may choose which four uploads it accepts. It refuses the other uploads at once.
  int refused = 0;
  for (const UniqueFd& fd : uploads)
    refused += receive(fd.get(), "\"2.0\"}", 2'000).rfind("HTTP/1.1 503", 0) == 0 ? 1 : 0;
  CHECK(refused == 4);
  CHECK(answers_ping(server.port));
}

TEST_CASE("attack: 10,000 requests at once are all answered") {
  RunningHttp server;
  constexpr int kConnections = 500;
  constexpr int kEach = 20;
  std::vector<UniqueFd> open;
  const std::string ping = raw_post("", kPing);
  std::string burst;
  for (int i = 0; i < kEach; ++i) burst += ping;
  for (int i = 0; i < kConnections; ++i) {
    open.push_back(connect_to(server.port));
    REQUIRE(send_text(open.back().get(), burst));
  }
  int answered = 0;
  for (const UniqueFd& fd : open) {
    std::string text;
    int here = 0;
    while (here < kEach) {
      const std::string more = receive(fd.get(), "\"result\":{}}");
      if (more.empty()) break;
      text += more;
      here = 0;
      for (std::size_t at = text.find("\"result\":{}}"); at != std::string::npos;
           at = text.find("\"result\":{}}", at + 1))
        ++here;
    }
    answered += here;
  }
  CHECK(answered == kConnections * kEach);
}

TEST_CASE("attack: a chunked body whose sizes lie") {
  RunningHttp server;
  const std::string after = "GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n";
  for (const char* chunks : {"-1\r\n{}\r\n0\r\n\r\n", "ffffffffffffffff\r\n{}\r\n0\r\n\r\n",
                             "fffffffffffffffffffffffff\r\n{}\r\n0\r\n\r\n",
                             "0x2\r\n{}\r\n0\r\n\r\n", "zz\r\n{}\r\n0\r\n\r\n", "\r\n{}\r\n",
                             "2\r\n{}XX0\r\n\r\n", "2 ;a=b\r\n{}\r\n0\r\nTrailer: x\r\n\r\n"}) {
    INFO(chunks);
    const UniqueFd fd = connect_to(server.port);
    REQUIRE(send_text(fd.get(), chunked(chunks) + after));
    ::shutdown(fd.get(), SHUT_WR);
    const std::string text = receive(fd.get());
    CHECK(text.rfind("HTTP/1.1 4", 0) == 0);
    CHECK(text.find("HTTP/1.1", 8) == std::string::npos);  // the server has closed the connection
  }
  const UniqueFd fd = connect_to(server.port);
  REQUIRE(send_text(fd.get(), chunked("2;")));
  const std::string extension(1 << 16, 'x');
  std::size_t sent = 0;
  while (sent < (64U << 20) && send_text(fd.get(), extension)) sent += extension.size();
  CHECK(sent < (64U << 20));
  CHECK(answers_ping(server.port));
}

TEST_CASE("attack: a Range header and malformed lines are refused") {
  RunningHttp server;
  CHECK(talk(server.port, raw_post("Range: bytes=" + std::string(8000, '1') + "-\r\n", kPing))
            .rfind("HTTP/1.1 400", 0) == 0);
  CHECK(talk(server.port, raw_post("Content-Length : 3\r\n", kPing)).rfind("HTTP/1.1 400", 0) == 0);
  CHECK(talk(server.port, raw_post("X: y\r\n Content-Length: 3\r\n", kPing))
            .rfind("HTTP/1.1 400", 0) == 0);
  CHECK(talk(server.port, raw_post(std::string("X: \0\r\n", 6), kPing)).rfind("HTTP/1.1 400", 0) ==
        0);
  CHECK(talk(server.port, "GET /" + std::string(100'000, 'x')).rfind("HTTP/1.1 431", 0) == 0);
  CHECK(talk(server.port, std::string(50, '\0') + "\r\n\r\n").rfind("HTTP/1.1 400", 0) == 0);
  CHECK(talk(server.port, "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n").rfind("HTTP/1.1 505", 0) == 0);
  CHECK(answers_ping(server.port));
}

TEST_CASE("attack: the text of a handler's exception does not reach the client") {
  RunningHttp server;
  const std::string text =
      talk(server.port, raw_post("Connection: close\r\n", dump(legacy_call(1, "throw"))));
  CHECK(text.find("secret detail") == std::string::npos);
  CHECK(text.find("EXCEPTION_WHAT") == std::string::npos);
}

TEST_CASE("attack: a half-closed socket gets an answer that needs no waiting") {
  RunningHttp server;
  const UniqueFd fd = connect_to(server.port);
  REQUIRE(send_text(fd.get(), raw_post("", kPing)));
  ::shutdown(fd.get(), SHUT_WR);
  CHECK(receive(fd.get()).rfind("HTTP/1.1 200", 0) == 0);
  const UniqueFd half = connect_to(server.port);
  REQUIRE(send_text(half.get(), "POST /mcp HTTP/1.1\r\nHost: lo"));
  ::shutdown(half.get(), SHUT_WR);
  CHECK(receive(half.get()).empty());
  const UniqueFd cut = connect_to(server.port);
  REQUIRE(send_text(cut.get(),
                    "POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: "
                    "application/json\r\nContent-Length: 100\r\n\r\n{"));
  ::shutdown(cut.get(), SHUT_WR);
  CHECK(receive(cut.get()).rfind("HTTP/1.1 400", 0) == 0);
}

}  // namespace assay::mcp
