// Tests the pages of an application: who gets them, and how many streams of events are open.
#include "server/mcp/http/http_pages.h"

#include <memory>
#include <string>

#include "base/clock.h"
#include "base/handle.h"
#include "server/mcp/http/tokens.h"
#include "tests/server/mcp/http/raw_http.h"
#include "tests/server/mcp/http/shared_server.h"

namespace assay::mcp {

using namespace test;

namespace {

/// Has one page of each kind. The stream sends the name of its principal, and lasts until it is
/// stopped.
class FewPages final : public HttpPages {
 public:
  Access access_of(std::string_view path) const override {
    if (path == "/") return Access::open;
    if (path == "/own") return Access::guarded;
    return path == "/events" ? Access::events : Access::none;
  }
  Reply reply(std::string_view path, const std::string& principal) override {
    return {.body = std::string(path) + " of '" + principal + "'", .content_type = "text/plain"};
  }
  void send_events(const std::string& principal,
                   const std::function<void(std::string_view data)>& send,
                   const std::stop_token& stop) override {
    send("hello " + principal);
    while (!stop.stop_requested()) system_clock().pause(std::chrono::hours(1), stop);
  }
};

std::string get(const std::string& path, const std::string& secret, const char* more = "") {
  return "GET " + path + " HTTP/1.1\r\nHost: localhost\r\n" +
         (secret.empty() ? "" : "Authorization: Bearer " + secret + "\r\n") + more + "\r\n";
}

HttpOptions with_tokens(HttpPages& pages) {
  HttpOptions options;
  options.pages = &pages;
  options.tokens = std::make_shared<const Tokens>(*Tokens::parse(
      "al practice sha256:" + sha256_hex("s3cret") + "\nbo practice sha256:" + sha256_hex("other"),
      {"practice"}));
  return options;
}

}  // namespace

TEST_CASE("http: an open page needs no token, a guarded page and events need one") {
  FewPages pages;
  RunningHttp server(with_tokens(pages));
  const auto said = [&](const std::string& request) { return talk(server.port, request); };
  const char* close = "Connection: close\r\n";
  CHECK(said(get("/", "", close)).ends_with("/ of ''"));
  CHECK(said(get("/?a=1", "", close)).ends_with("/ of ''"));
  for (const char* path : {"/own", "/events"}) {
    CHECK(said(get(path, "", close)).starts_with("HTTP/1.1 401"));
    CHECK(said(get(path, "wrong", close)).starts_with("HTTP/1.1 401"));
  }
  CHECK(said(get("/own", "s3cret", close)).ends_with("/own of 'al'"));
  CHECK(said(get("/none", "s3cret", close)).starts_with("HTTP/1.1 404"));
  CHECK(said("POST /own HTTP/1.1\r\nHost: localhost\r\nContent-Length: 0\r\nConnection: "
             "close\r\n\r\n")
            .starts_with("HTTP/1.1 404"));
}

TEST_CASE("http: streams of pages take the places of listeners, of all and of one principal") {
  FewPages pages;
  HttpOptions options = with_tokens(pages);
  options.max_listeners = 2;
  options.principal_listeners = 1;
  RunningHttp server(options);
  const UniqueFd first = connect_to(server.port);
  REQUIRE(send_text(first.get(), get("/events", "s3cret")));
  const std::string begin = receive(first.get(), "hello al\n\n");
  CHECK(begin.find("text/event-stream") != std::string::npos);
  CHECK(begin.find("data: hello al\n\n") != std::string::npos);
  CHECK(talk(server.port, get("/events", "s3cret", "Connection: close\r\n"))
            .starts_with("HTTP/1.1 503"));
  const UniqueFd other = connect_to(server.port);
  REQUIRE(send_text(other.get(), get("/events", "other")));
  CHECK(receive(other.get(), "hello bo\n\n").find("hello bo") != std::string::npos);
}

}  // namespace assay::mcp
