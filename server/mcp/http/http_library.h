// What stands between cpp-httplib and the rest: a connection as the library's stream, its headers
// as ours, and our replies in its responses.
//
//   RequestStream stream(connection, deadline, max_bytes);       // what the library reads a
//   request from and writes the answer to const HeaderLookup header = lookup(request);
//   write_reply(response, error_reply(...));
#pragma once

// CPPHTTPLIB_OPENSSL_SUPPORT comes from CMake: the library's classes differ without it
#include <httplib.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <string>

#include "server/mcp/http/connection.h"
#include "server/mcp/http/http_endpoint.h"
#include "server/mcp/protocol/http_headers.h"

namespace assay::mcp {

/// A connection as the library sees it while it handles one request.
class RequestStream final : public httplib::Stream {
 public:
  /// After `max_bytes` (of the head and of the body with its framing) the stream is at its end: the
  /// library would keep a chunk's header line of any length.
  RequestStream(Connection& connection, std::chrono::steady_clock::time_point body_deadline,
                std::size_t max_bytes)
      : connection_(connection), body_deadline_(body_deadline), left_bytes_(max_bytes) {}

  bool is_readable() const override { return true; }
  ssize_t read(char* buffer, std::size_t size) override {
    if (connection_.input().empty())
      connection_.flush();  // "100 Continue" must be out before the body can come
    const std::size_t got = connection_.read(buffer, std::min(size, left_bytes_), body_deadline_);
    left_bytes_ -= got;
    return static_cast<ssize_t>(got);
  }
  ssize_t write(const char* data, std::size_t size) override {
    return connection_.write({data, size}) ? static_cast<ssize_t>(size) : -1;
  }
  void get_remote_ip_and_port(std::string& ip, int& port) const override {
    ip = connection_.remote().host;
    port = connection_.remote().port;
  }
  void get_local_ip_and_port(std::string& ip, int& port) const override {
    ip = connection_.local().host;
    port = connection_.local().port;
  }
  socket_t socket() const override { return connection_.fd(); }
  // Virtual in some versions of the library only, so none can say `override`.
#ifdef __clang__
#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Winconsistent-missing-override"
#endif
  // NOLINTBEGIN(modernize-use-override)
  bool is_writable() const { return !connection_.hung_up(); }
  bool wait_readable() const { return true; }
  bool wait_writable() const { return !connection_.hung_up(); }
  time_t duration() const { return 0; }
  // NOLINTEND(modernize-use-override)
#ifdef __clang__
#pragma clang diagnostic pop
#endif

 private:
  Connection& connection_;
  const std::chrono::steady_clock::time_point body_deadline_;
  std::size_t left_bytes_;
};

HeaderLookup lookup(const httplib::Request& request);

void write_reply(httplib::Response& response, const Reply& reply);

/// `reply` as bytes, for what is refused before the library sees the request.
std::string raw_reply(const Reply& reply);

}  // namespace assay::mcp
