// Defines a proxy that cuts event streams, for tests of a client that resumes the streams.
#pragma once

#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>

#include <atomic>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "base/unique_fd.h"
#include "tests/server/mcp/http/raw_http.h"

namespace assay::mcp::test {

/// A proxy between client and server. If the answer to a POST is an event stream, the proxy cuts
/// the stream after the first event. It counts the cuts and the resumed streams.
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

}  // namespace assay::mcp::test
