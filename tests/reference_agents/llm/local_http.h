// LocalHttp is a real HTTP/1.1 server on a loopback port, for the tests of the LLM clients. It
// answers each request with the next response of a list, and it remembers the requests. A response
// can be late, arrive byte by byte, or be cut off.
//
//   LocalHttp server({{429, "slow down", "Retry-After: 1\r\n"}, {200, reply}});
#pragma once

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>

#include <cstdlib>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "base/unique_fd.h"

namespace assay::agents::testing {

/// The API key that the tests send.
inline const std::string kKey = "sk-test-0123456789";

struct Canned {
  int status = 200;
  std::string body = {};
  std::string extra_headers = {};  // header lines; each ends with "\r\n"
  std::size_t missing_bytes = 0;   // bytes cut off the body; Content-Length still counts them
  bool has_length = true;          // false: the body ends with the connection
  int delay_ms = 0;                // the pause before the answer; if `drips`, before each byte
  bool drips = false;              // true: the answer is sent byte by byte
};

struct Received {
  std::string request_line;
  std::map<std::string, std::string> headers;  // names in lower case
  std::string body;
};

class LocalHttp {
 public:
  explicit LocalHttp(std::vector<Canned> responses) : responses_(std::move(responses)) {
    listener_.reset(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof(address);
    if (::bind(listener_.get(), reinterpret_cast<sockaddr*>(&address), size) != 0 ||
        ::listen(listener_.get(), 16) != 0)
      std::abort();
    ::getsockname(listener_.get(), reinterpret_cast<sockaddr*>(&address), &size);
    port_ = ntohs(address.sin_port);
    thread_ = std::thread([this] { serve(); });
  }
  ~LocalHttp() {
    ::shutdown(listener_.get(), SHUT_RDWR);
    thread_.join();
  }
  LocalHttp(const LocalHttp&) = delete;
  LocalHttp& operator=(const LocalHttp&) = delete;

  std::string url() const { return "http://127.0.0.1:" + std::to_string(port_); }
  std::vector<Received> received() {
    const std::lock_guard lock(mutex_);
    return received_;
  }

 private:
  void serve() {
    for (std::size_t next = 0;; ++next) {
      const UniqueFd connection(::accept(listener_.get(), nullptr, nullptr));
      if (!connection) return;
      const std::lock_guard lock(mutex_);
      received_.push_back(read_request(connection.get()));
      answer(connection.get(), next < responses_.size()
                                   ? responses_[next]
                                   : Canned{500, "no more canned responses", ""});
    }
  }

  static void answer(int fd, const Canned& canned) {
    const std::string length =
        canned.has_length ? "Content-Length: " + std::to_string(canned.body.size()) + "\r\n" : "";
    const std::string head = "HTTP/1.1 " + std::to_string(canned.status) +
                             " X\r\nContent-Type: application/json\r\nConnection: close\r\n";
    const std::string bytes = head + canned.extra_headers + length + "\r\n" +
                              canned.body.substr(0, canned.body.size() - canned.missing_bytes);
    if (!canned.drips && client_left(fd, canned.delay_ms)) return;
    for (std::size_t done = 0; done < bytes.size();) {
      if (canned.drips && client_left(fd, canned.delay_ms)) return;
      const ssize_t put =
          ::send(fd, bytes.data() + done, canned.drips ? 1 : bytes.size() - done, MSG_NOSIGNAL);
      if (put <= 0) return;
      done += static_cast<std::size_t>(put);
    }
  }

  /// Waits for `wait_ms`. Returns true at once when the client closes the connection.
  static bool client_left(int fd, int wait_ms) {
    pollfd watched{fd, POLLRDHUP, 0};
    return wait_ms > 0 && ::poll(&watched, 1, wait_ms) > 0;
  }

  static Received read_request(int fd) {
    std::string bytes;
    std::size_t head_end = std::string::npos;
    char chunk[4096];
    Received received;
    std::size_t wanted = 0;
    while (head_end == std::string::npos || bytes.size() < head_end + 4 + wanted) {
      const ssize_t got = ::recv(fd, chunk, sizeof(chunk), 0);
      if (got <= 0) break;
      bytes.append(chunk, static_cast<std::size_t>(got));
      if (head_end == std::string::npos &&
          (head_end = bytes.find("\r\n\r\n")) != std::string::npos) {
        parse_head(bytes.substr(0, head_end), received);
        wanted = static_cast<std::size_t>(std::atol(received.headers["content-length"].c_str()));
      }
    }
    if (head_end != std::string::npos) received.body = bytes.substr(head_end + 4);
    return received;
  }

  static void parse_head(const std::string& head, Received& received) {
    received.request_line = head.substr(0, head.find("\r\n"));
    for (std::size_t at = head.find("\r\n"); at != std::string::npos;
         at = head.find("\r\n", at + 2)) {
      const std::size_t end = std::min(head.find("\r\n", at + 2), head.size());
      const std::string line = head.substr(at + 2, end - at - 2);
      std::string name = line.substr(0, line.find(':'));
      for (char& character : name)
        character = static_cast<char>(std::tolower(static_cast<unsigned char>(character)));
      const std::size_t value = line.find_first_not_of(' ', line.find(':') + 1);
      received.headers[name] = value == std::string::npos ? "" : line.substr(value);
    }
  }

  std::vector<Canned> responses_;
  UniqueFd listener_;
  int port_ = 0;
  std::mutex mutex_;
  std::vector<Received> received_;
  std::thread thread_;
};

}  // namespace assay::agents::testing
