// Implements the channel over Streamable HTTP.
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <map>
#include <optional>

#include "base/mutex.h"
#include "server/mcp/client/channel.h"
#include "server/mcp/client/http_client.h"
#include "server/mcp/protocol/http_headers.h"
#include "server/mcp/protocol/jsonrpc.h"
#include "server/mcp/protocol/sse.h"

namespace assay::mcp {
namespace {

using nlohmann::json;

constexpr std::int64_t kNotifyTimeoutMs = 10'000;
constexpr std::size_t kShownBytes = 200;
constexpr int kHttpBadRequest = 400, kHttpNotFound = 404;
// The number of consecutive attempts without a new event after which resume() gives up.
constexpr int kResumeAttempts = 3;
constexpr std::int64_t kRetryMs = 500, kMaxRetryMs = 5'000;

class HttpChannel final : public Channel {
 public:
  HttpChannel(std::string url, std::string token, const Clock& clock)
      : url_(std::move(url)), token_(std::move(token)), clock_(clock) {}

  ~HttpChannel() override {
    if (session_.empty()) return;
    HttpExchange goodbye;
    goodbye.method = "DELETE";
    goodbye.headers = authorization();
    goodbye.headers[kHeaderSession] = session_;
    goodbye.timeout_ms = kNotifyTimeoutMs;
    // The result of this request to end the session does not matter, because the server removes an
    // idle session anyway.
    static_cast<void>(http_exchange(url_, goodbye, clock_));
  }

  Result<json> request(const json& message, const std::string& version, const Wait& wait) override {
    const std::int64_t until_ns = clock_.monotonic_ns() + wait.timeout_ms * kNsPerMs;
    Intake intake(message["id"], wait);
    HttpExchange exchange;
    exchange.headers = headers(message, version);
    exchange.body = dump(message);
    exchange.content_type = "application/json";
    exchange.timeout_ms = wait.timeout_ms;
    exchange.stop = wait.stop;
    exchange.arrived = [&](std::string_view part) {
      intake.take(part);
      return true;  // http_exchange() returns the headers only after the whole body has arrived
    };
    auto response = http_exchange(url_, exchange, clock_);
    if (response) remember_session(*response);
    if (intake.response) return *intake.response;
    if (response) {
      if (response->status == kHttpNotFound && has_session() && version != kStatelessVersion)
        return fail(ErrorCode::unavailable, url_ + " has ended the session; connect again");
      if (!is_stream(*response)) return find_response(*response, message["id"]);
    }
    Error why = response
                    ? Error{ErrorCode::unavailable, url_ + " ended its stream without a response"}
                    : response.error();
    if (version != kStatelessVersion && has_session()) {
      if (why.code != ErrorCode::cancelled && !intake.events.last_id().empty())
        why = resume(intake, version, wait, until_ns);
      if (intake.response) return *intake.response;
      // This notification cancels the request at the server. A stateless request needs no
      // notification, because the end of its connection cancels it.
      static_cast<void>(
          notify(make_notification("notifications/cancelled",
                                   {{"requestId", message["id"]}, {"reason", why.message}}),
                 version));
    }
    return fail(why);
  }

  Status notify(const json& message, const std::string& version) override {
    auto response = http_post(url_, headers(message, version), dump(message), "application/json",
                              kNotifyTimeoutMs);
    if (!response) return fail(response.error());
    if (response->status >= 400)
      return fail(ErrorCode::unavailable, url_ + " answered a notification with HTTP status " +
                                              std::to_string(response->status));
    return {};
  }

 private:
  /// Reads the event stream that answers a request. Passes each notification on immediately and
  /// stores the response.
  struct Intake {
    Intake(const json& id_in, const Wait& wait_in) : id(id_in), wait(wait_in) {}
    const json id;
    const Wait& wait;
    SseReader events;
    std::optional<json> response;

    /// Reads a part of the stream. Returns false when the response has arrived.
    bool take(std::string_view part) {
      for (const std::string& text : events.feed(part)) {
        auto message = parse_message(text, {.max_bytes = static_cast<std::int64_t>(text.size())});
        if (!message) continue;
        if (message->kind == Message::Kind::notification && wait.notified)
          wait.notified(make_notification(message->method, message->params));
        if (message->kind == Message::Kind::response && message->id == id) response = message->body;
      }
      return !response;
    }
  };

  bool has_session() {
    const MutexLock lock(mutex_);
    return !session_.empty();
  }

  void remember_session(const HttpResponse& response) {
    const auto session = response.headers.find("mcp-session-id");
    if (session == response.headers.end()) return;
    const MutexLock lock(mutex_);
    session_ = session->second;
  }

  static bool is_stream(const HttpResponse& response) {
    const auto type = response.headers.find("content-type");
    return type != response.headers.end() && type->second.rfind("text/event-stream", 0) == 0;
  }

  /// Fetches the rest of a broken stream. Reconnects until the response has arrived in `intake`.
  /// Gives up if several consecutive attempts bring no new event, or if the request is cancelled,
  /// refused or too slow. Then returns the reason.
  Error resume(Intake& intake, const std::string& version, const Wait& wait,
               std::int64_t until_ns) {
    Error why{ErrorCode::unavailable, url_ + " broke the stream of a request"};
    for (int fruitless = 0; fruitless < kResumeAttempts; ++fruitless) {
      const std::chrono::milliseconds pause(
          std::min(intake.events.retry_ms().value_or(kRetryMs), kMaxRetryMs));
      if (!clock_.pause(pause, wait.stop))
        return {ErrorCode::cancelled, "the request to " + url_ + " was cancelled"};
      const std::int64_t left_ms = (until_ns - clock_.monotonic_ns()) / kNsPerMs;
      if (left_ms <= 0)
        return {ErrorCode::unavailable,
                url_ + " did not answer within " + std::to_string(wait.timeout_ms) + " ms"};
      HttpExchange exchange;
      exchange.method = "GET";
      exchange.headers = authorization();
      exchange.headers["Accept"] = "text/event-stream";
      exchange.headers[kHeaderVersion] = version;
      exchange.headers["Last-Event-ID"] = intake.events.last_id();
      {
        const MutexLock lock(mutex_);
        exchange.headers[kHeaderSession] = session_;
      }
      exchange.timeout_ms = left_ms;
      exchange.stop = wait.stop;
      exchange.arrived = [&](std::string_view part) { return intake.take(part); };
      intake.events.begin_stream();
      const std::string before = intake.events.last_id();
      const auto rest = http_exchange(url_, exchange, clock_);
      if (intake.response) return {};
      if (!rest && rest.error().code == ErrorCode::cancelled) return rest.error();
      if (!rest) why = rest.error();
      if (rest && rest->status >= kHttpBadRequest)
        return {ErrorCode::unavailable,
                url_ + " does not give the rest of a broken stream: HTTP status " +
                    std::to_string(rest->status)};
      if (intake.events.last_id() != before) fruitless = -1;
    }
    return why;
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
      if (const auto name = mirrored_name(method, message["params"]))
        out[kHeaderName] = encode_header_value(*name);
      return out;
    }
    const MutexLock lock(mutex_);
    if (!session_.empty()) out[kHeaderSession] = session_;
    return out;
  }

  /// Returns the response when the whole body is one response.
  Result<json> find_response(const HttpResponse& response, const json& id) const {
    const auto message = parse_message(
        response.body, {.max_bytes = static_cast<std::int64_t>(response.body.size())});
    const bool fits =
        message && message->kind == Message::Kind::response &&
        (message->id == id || (message->id.is_null() && message->body.contains("error")));
    if (fits) return message->body;
    return fail(ErrorCode::unavailable,
                url_ + " answered with HTTP status " + std::to_string(response.status) +
                    " and no JSON-RPC response: " + response.body.substr(0, kShownBytes));
  }

  const std::string url_, token_;
  const Clock& clock_;
  Mutex mutex_;
  std::string session_ ASSAY_GUARDED_BY(mutex_);
};

}  // namespace

std::unique_ptr<Channel> open_http_channel(const std::string& url, const std::string& bearer_token,
                                           const Clock& clock) {
  return std::make_unique<HttpChannel>(url, bearer_token, clock);
}

}  // namespace assay::mcp
