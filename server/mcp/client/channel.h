// Channel: how a client's messages reach a server and come back. Two exist: a child process's pipes
// and HTTP. Thread-safe: several requests may wait at once.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "base/result.h"

namespace assay::mcp {

/// How long to wait for a response, and what to do meanwhile.
struct Wait {
  std::int64_t timeout_ms = 300'000;
  std::function<void(const nlohmann::json& notification)> notified =
      {};  // those that belong to the request; on its thread; null: dropped
  std::function<bool()> cancelled = {};  // the caller gives up; null: never
};

class Channel {
 public:
  virtual ~Channel() = default;
  /// Sends a request and waits for the response with its id: an object with `result` or `error`.
  /// `version` is the revision that is spoken. A progress token, where there is one, is the
  /// request's id. A request that is given up on is cancelled at the server: `cancelled` when the
  /// caller wanted it so, else `unavailable`.
  virtual Result<nlohmann::json> request(const nlohmann::json& message, const std::string& version,
                                         const Wait& wait) = 0;
  virtual Status notify(const nlohmann::json& message, const std::string& version) = 0;
};

Result<std::unique_ptr<Channel>> open_stdio_channel(const std::vector<std::string>& command);
std::unique_ptr<Channel> open_http_channel(const std::string& url, const std::string& bearer_token);

}  // namespace assay::mcp
