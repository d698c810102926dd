// HttpApplication answers the requests for paths beside /mcp that belong to the application. The
// HTTP server has checked the headers Host and Origin, the token and the rate limit before, and has
// read the body.
//
//   class Greeter final : public HttpApplication {
//    public:
//     bool owns(std::string_view path) const override { return path == "/hello"; }
//     Reply refused(const Reply& refusal) const override { return refusal; }
//     ApplicationAnswer answer(ApplicationRequest request) override {
//       return {.reply = {.body = "\"hello " + name_of(request.caller) + "\""}};
//     }
//   };
//
// Many workers call the functions simultaneously.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>

#include "server/mcp/core/request_context.h"
#include "server/mcp/http/http_request.h"
#include "server/mcp/http/http_response.h"

namespace assay::mcp {

struct ApplicationRequest {
  const HttpRequest& request;
  std::string body = {};                           // empty: the request has none
  std::shared_ptr<const Caller> caller = nullptr;  // null: the server has no tokens
  std::string traceparent = {};
  /// A stop is requested if the client disconnects, or if the server stops.
  std::stop_token gone = {};
};

/// Sends one event. The data must not have line breaks.
using SendEvent = std::function<void(std::string_view data)>;
/// Sends all events of a stream. Returns early if a stop of `end` is requested.
using WriteEvents = std::function<void(const SendEvent& send, const std::stop_token& end)>;

/// The answer is `reply`, or an event stream if `stream` is not null.
struct ApplicationAnswer {
  Reply reply = {};
  WriteEvents stream = nullptr;
};

class HttpApplication {
 public:
  virtual ~HttpApplication() = default;
  virtual bool owns(std::string_view path) const = 0;
  /// Returns `refusal` in the form of the application. The refusal is a JSON-RPC error without an
  /// id, which the server sends for /mcp.
  virtual Reply refused(const Reply& refusal) const = 0;
  /// Returns the reply to a request that is refused whatever its body is: there is no such path, or
  /// the path does not have this method. The server then does not read the body.
  virtual std::optional<Reply> refusal_of_head(const HttpRequest& request) const {
    static_cast<void>(request);
    return std::nullopt;
  }
  virtual ApplicationAnswer answer(ApplicationRequest request) = 0;
};

}  // namespace assay::mcp
