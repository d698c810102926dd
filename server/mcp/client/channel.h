// Channel carries messages between one MCP client and a server, either over the pipes of a child
// process or over HTTP.
//
//   const std::unique_ptr<Channel> channel = open_http_channel("http://127.0.0.1:8080/mcp", "");
//   const nlohmann::json ping = make_request(1, "ping", nlohmann::json::object());
//   const Result<nlohmann::json> pong = channel->request(ping, "2025-11-25", {});
//
// Thread-safe: several requests may wait simultaneously.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <stop_token>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/json.h"
#include "base/result.h"

namespace assay::mcp {

/// Says how long to wait for one response, and what to do meanwhile.
struct Wait {
  std::int64_t timeout_ms = 300'000;
  /// Receives the notifications that belong to the request, on the waiting thread. Null:
  /// notifications are discarded.
  std::function<void(const nlohmann::json& notification)> notified = {};
  /// The caller requests a stop to end the wait early.
  std::stop_token stop = {};
};

class Channel {
 public:
  virtual ~Channel() = default;
  /// Sends a request and waits for the response with the same id. The response is an object with
  /// `result` or `error`. `version` is the revision of MCP that both sides use. If the request has
  /// a progress token, the token must equal the request's id. If the wait ends early, the channel
  /// also cancels the request at the server. Errors: cancelled if `stop` was requested; otherwise
  /// unavailable.
  virtual Result<nlohmann::json> request(const nlohmann::json& message, const std::string& version,
                                         const Wait& wait) = 0;
  /// Sends a notification.
  virtual Status notify(const nlohmann::json& message, const std::string& version) = 0;
};

/// Starts `command`, a server, as a child process and opens a channel to it. For this function and
/// the next one, the clock must outlive the channel.
Result<std::unique_ptr<Channel>> open_stdio_channel(const std::vector<std::string>& command,
                                                    const Clock& clock = system_clock());
std::unique_ptr<Channel> open_http_channel(const std::string& url, const std::string& bearer_token,
                                           const Clock& clock = system_clock());

}  // namespace assay::mcp
