// Sends and receives HTTP byte by byte, for tests that do what well-behaved clients never do.
#pragma once

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>

#include <string>

#include "base/unique_fd.h"
#include "tests/catch.h"

namespace assay::mcp::test {

inline UniqueFd connect_to(int port, int receive_buffer_bytes = 0) {
  UniqueFd fd(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (receive_buffer_bytes > 0)
    ::setsockopt(fd.get(), SOL_SOCKET, SO_RCVBUF, &receive_buffer_bytes,
                 sizeof(receive_buffer_bytes));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<std::uint16_t>(port));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  REQUIRE(::connect(fd.get(), reinterpret_cast<sockaddr*>(&address), sizeof(address)) == 0);
  return fd;
}

/// Sends `text`. Returns false when the server takes no more bytes.
inline bool send_text(int fd, const std::string& text) {
  std::size_t done = 0;
  while (done < text.size()) {
    const ssize_t put = ::send(fd, text.data() + done, text.size() - done, MSG_NOSIGNAL);
    if (put <= 0) return false;
    done += static_cast<std::size_t>(put);
  }
  return true;
}

/// Receives bytes until the server closes the connection, `until` has arrived, or `patience_ms`
/// pass without a byte. Returns the received bytes.
inline std::string receive(int fd, const std::string& until = "", int patience_ms = 10'000) {
  std::string text;
  char chunk[4096];
  pollfd entry{fd, POLLIN, 0};
  while ((until.empty() || text.find(until) == std::string::npos) &&
         ::poll(&entry, 1, patience_ms) == 1) {
    const ssize_t got = ::recv(fd, chunk, sizeof(chunk), 0);
    if (got <= 0) break;
    text.append(chunk, static_cast<std::size_t>(got));
  }
  return text;
}

inline std::string talk(int port, const std::string& text, const std::string& until = "") {
  const UniqueFd fd = connect_to(port);
  send_text(fd.get(), text);
  return receive(fd.get(), until);
}

inline const std::string kPing = R"({"jsonrpc":"2.0","id":1,"method":"ping"})";

inline std::string raw_post(const std::string& extra_headers, const std::string& body,
                            const std::string& host = "localhost") {
  return "POST /mcp HTTP/1.1\r\nHost: " + host +
         "\r\nContent-Type: application/json\r\nContent-Length: " + std::to_string(body.size()) +
         "\r\n" + extra_headers + "\r\n" + body;
}

/// Returns true when the server answers a ping with 200 within `patience_ms`.
inline bool answers_ping(int port, int patience_ms = 10'000) {
  const UniqueFd fd = connect_to(port);
  return send_text(fd.get(), raw_post("Connection: close\r\n", kPing)) &&
         receive(fd.get(), "\"result\":{}", patience_ms).rfind("HTTP/1.1 200", 0) == 0;
}

/// Returns the headers of a stateless call of `tool`.
inline std::string stateless_headers(
    const std::string& tool, const std::string& accept = "application/json, text/event-stream") {
  return "MCP-Protocol-Version: 2026-07-28\r\nMcp-Method: tools/call\r\nMcp-Name: " + tool +
         "\r\nAccept: " + accept + "\r\n";
}

}  // namespace assay::mcp::test
