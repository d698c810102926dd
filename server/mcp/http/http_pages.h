// HttpPages are pages that an application serves besides MCP, on the same port: files that are the
// same for everybody, documents of the client's own data, and streams of events. HttpServer checks
// the names, the token and the rate limit of a request before it asks the pages.
//
//   const HttpPages::Access access = pages.access_of("/live/state");
//   if (access == HttpPages::Access::guarded) response.reply(pages.reply("/live/state", "alice"));
//
// Thread-safe: workers call all functions simultaneously.
#pragma once

#include <functional>
#include <stop_token>
#include <string>
#include <string_view>

#include "server/mcp/http/http_request.h"
#include "server/mcp/http/http_response.h"

namespace assay::mcp {

class HttpPages {
 public:
  enum class Access {
    none,     // there is no such page
    open,     // needs no token, because it is the same for everybody and shows no data
    guarded,  // needs a token if the server has tokens, as MCP does
    events,   // like `guarded`, and the answer is a stream of server-sent events
  };

  virtual ~HttpPages() = default;
  /// Says how a request of any method is answered. `pages` may be null.
  static Access access(const HttpPages* pages, const HttpRequest& request) {
    const bool get = request.method == "GET" || request.method == "HEAD";
    const bool asks = pages != nullptr && get && !request.has_body();
    return asks ? pages->access_of(request.path) : Access::none;
  }
  /// Says how the path is answered. `path` is the path of a GET request, without its query.
  virtual Access access_of(std::string_view path) const = 0;
  /// Answers a request for an open or a guarded path. `principal` is the name of the client's
  /// token. It is empty if the server has no tokens or the path is open.
  virtual Reply reply(std::string_view path, const std::string& principal) = 0;
  /// Calls `send` with the text of each event until `stop` is requested. A text has no line breaks.
  virtual void send_events(const std::string& principal,
                           const std::function<void(std::string_view data)>& send,
                           const std::stop_token& stop) = 0;
};

}  // namespace assay::mcp
