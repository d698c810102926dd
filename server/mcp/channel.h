// Channel: how a client's messages reach a server and come back. Two exist: a child process's pipes and HTTP.
// Thread-safe: several requests may wait at once.
#pragma once

#include <cstdint>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "base/result.h"

namespace assay::mcp {

class Channel {
 public:
  virtual ~Channel() = default;
  /// Sends a request and waits for the response with its id: an object with `result` or `error`. `version` is the revision that is spoken.
  /// A request that is given up on is cancelled at the server.
  virtual Result<nlohmann::json> request(const nlohmann::json& message, const std::string& version, std::int64_t timeout_ms) = 0;
  virtual Status notify(const nlohmann::json& message, const std::string& version) = 0;
};

Result<std::unique_ptr<Channel>> open_stdio_channel(const std::vector<std::string>& command);
std::unique_ptr<Channel> open_http_channel(const std::string& url, const std::string& bearer_token);

}  // namespace assay::mcp
