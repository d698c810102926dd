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
constexpr int kHttpNotFound = 404;

class HttpChannel final : public Channel {
 public:
  HttpChannel(std::string url, std::string token) : url_(std::move(url)), token_(std::move(token)) {}

  ~HttpChannel() override {
    if (session_.empty()) return;
    HttpExchange goodbye;
    goodbye.method = "DELETE";
    goodbye.headers = authorization();
    goodbye.headers[kHeaderSession] = session_;
    goodbye.timeout_ms = kNotifyTimeoutMs;
    static_cast<void>(http_exchange(url_, goodbye));  // a courtesy: the server forgets the session anyway
  }

  Result<json> request(const json& message, const std::string& version, const Wait& wait) override {
    HttpExchange exchange;
    exchange.headers = headers(message, version);
    exchange.body = dump(message);
    exchange.content_type = "application/json";
    exchange.timeout_ms = wait.timeout_ms;
    exchange.cancelled = wait.cancelled;
    SseReader events;
    if (wait.notified) {
      exchange.arrived = [&](std::string_view part) {
        for (const std::string& text : events.feed(part)) tell(text, wait);
        return true;
      };
    }
    auto response = http_exchange(url_, exchange);
    if (!response) {
      // Hanging up cancels in the stateless era; a legacy server must be told.
      if (version != kStatelessVersion && has_session())
        static_cast<void>(notify(make_notification("notifications/cancelled", {{"requestId", message["id"]}, {"reason", response.error().message}}), version));
      return fail(response.error());
    }
    if (const auto session = response->headers.find("mcp-session-id"); session != response->headers.end()) {
      const std::lock_guard lock(mutex_);
      session_ = session->second;
    }
    if (response->status == kHttpNotFound && has_session() && version != kStatelessVersion)
      return fail(ErrorCode::unavailable, url_ + " has ended the session; connect again");
    return find_response(*response, message["id"]);
  }

  Status notify(const json& message, const std::string& version) override {
    auto response = http_post(url_, headers(message, version), dump(message), "application/json", kNotifyTimeoutMs);
    if (!response) return fail(response.error());
    if (response->status >= 400) return fail(ErrorCode::unavailable, url_ + " answered a notification with HTTP status " + std::to_string(response->status));
    return {};
  }

 private:
  bool has_session() {
    const std::lock_guard lock(mutex_);
    return !session_.empty();
  }

  static void tell(const std::string& text, const Wait& wait) {
    const auto message = parse_message(text, {.max_bytes = static_cast<std::int64_t>(text.size())});
    if (message && message->kind == Message::Kind::notification) wait.notified(make_notification(message->method, message->params));
  }

  std::map<std::string, std::string> authorization() const {
    std::map<std::string, std::string> out;
    if (!token_.empty()) out["Authorization"] = "Bearer " + token_;
    return out;
  }

  std::map<std::string, std::string> headers(const json& message, const std::string& version) {
    std::map<std::string, std::string> out = authorization();
    out["Accept"] = "application/json, text/event-stream";
    const std::string method = message["method"];
    if (method != "initialize") out[kHeaderVersion] = version;
    if (version == kStatelessVersion) {
      out[kHeaderMethod] = method;
      if (const auto name = mirrored_name(method, message["params"])) out[kHeaderName] = encode_header_value(*name);
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
