#include <cstdint>
#include <map>
#include <mutex>

#include "server/mcp/channel.h"
#include "server/mcp/http_client.h"
#include "server/mcp/http_headers.h"
#include "server/mcp/jsonrpc.h"
#include "server/mcp/sse.h"

namespace assay::mcp {
namespace {

using nlohmann::json;

constexpr std::int64_t kNotifyTimeoutMs = 10'000;
constexpr std::size_t kShownBytes = 200;

class HttpChannel final : public Channel {
 public:
  HttpChannel(std::string url, std::string token) : url_(std::move(url)), token_(std::move(token)) {}

  Result<json> request(const json& message, const std::string& version, std::int64_t timeout_ms) override {
    auto response = http_post(url_, headers(message, version), dump(message), "application/json", timeout_ms);
    if (!response) return fail(response.error());
    if (const auto session = response->headers.find("mcp-session-id"); session != response->headers.end()) {
      const std::lock_guard lock(mutex_);
      session_ = session->second;
    }
    return find_response(*response, message["id"]);
  }

  Status notify(const json& message, const std::string& version) override {
    auto response = http_post(url_, headers(message, version), dump(message), "application/json", kNotifyTimeoutMs);
    if (!response) return fail(response.error());
    if (response->status >= 400) return fail(ErrorCode::unavailable, url_ + " answered a notification with HTTP status " + std::to_string(response->status));
    return {};
  }

 private:
  std::map<std::string, std::string> headers(const json& message, const std::string& version) {
    std::map<std::string, std::string> out = {{"Accept", "application/json, text/event-stream"}};
    if (!token_.empty()) out["Authorization"] = "Bearer " + token_;
    const std::string method = message["method"];
    if (method != "initialize") out[kHeaderVersion] = version;
    if (version == kStatelessVersion) {
      out[kHeaderMethod] = method;
      if (method == "tools/call") out[kHeaderName] = encode_header_value(message["params"]["name"].get<std::string>());
      return out;
    }
    const std::lock_guard lock(mutex_);
    if (!session_.empty()) out[kHeaderSession] = session_;
    return out;
  }

  /// The response may be the body, or the last event of a stream whose earlier ones are notifications.
  Result<json> find_response(const HttpResponse& response, const json& id) const {
    const auto type = response.headers.find("content-type");
    const bool stream = type != response.headers.end() && type->second.rfind("text/event-stream", 0) == 0;
    for (const std::string& text : stream ? sse_data(response.body) : std::vector<std::string>{response.body}) {
      auto message = parse_message(text, {.max_bytes = static_cast<std::int64_t>(response.body.size())});
      if (!message || message->kind != Message::Kind::response) continue;
      if (message->id == id || (message->id.is_null() && message->body.contains("error"))) return message->body;
    }
    return fail(ErrorCode::unavailable,
                url_ + " answered with HTTP status " + std::to_string(response.status) + " and no JSON-RPC response: " + response.body.substr(0, kShownBytes));
  }

  const std::string url_, token_;
  std::mutex mutex_;
  std::string session_;
};

}  // namespace

std::unique_ptr<Channel> open_http_channel(const std::string& url, const std::string& bearer_token) { return std::make_unique<HttpChannel>(url, bearer_token); }

}  // namespace assay::mcp
