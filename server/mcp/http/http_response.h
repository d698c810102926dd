// ResponseWriter writes the response to one HTTP request, either as one complete reply or as an
// event stream in chunks.
//
//   ResponseWriter response(connection, request, std::chrono::seconds(30), metrics);
//   response.reply({.status = 404});
//   connection.flush();
//   const bool again = response.connection_usable();
//
// A writer belongs to one thread at a time.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "server/mcp/core/share_limiter.h"
#include "server/mcp/http/connection.h"
#include "server/mcp/http/http_metrics.h"
#include "server/mcp/http/http_record.h"
#include "server/mcp/http/http_request.h"

namespace assay::mcp {

struct Reply {
  int status = 200;
  std::string body = {};  // empty: no body
  std::vector<std::pair<std::string, std::string>> headers = {};
  bool close = false;  // close the connection, because the request's body was not read
  std::string content_type = "application/json; charset=utf-8";
  Refusal refusal = Refusal::none;
};

/// Returns a reply that contains a JSON-RPC error without an id. The id is unknown, because the
/// reply answers a request whose message was not read.
Reply error_reply(int status, int code, const std::string& message, bool close = false);

/// Returns the answer to a health check.
Reply health_reply(bool draining);

/// Returns the reply to a request that exceeds a limit. The reply asks the client to try again
/// after a second. `what` names the limit.
Reply busy_reply(const std::string& what);
/// Returns the reply to a request for which `refused` has no place. `what` says what there are too
/// many of, for example "calls are running".
Reply busy_reply(ShareLimiter::Refusal refusal, const std::string& what);

/// Returns the bytes of `reply`, including a header that says that the connection will be closed.
/// The server sends these bytes to a client whose request it has not read.
std::string closing_reply(const Reply& reply);

class ResponseWriter {
 public:
  /// The writer tells the client that the server closes a connection that is silent for
  /// `idle_timeout`. `connection`, `request` and `metrics` must outlive the writer.
  ResponseWriter(Connection& connection, const HttpRequest& request,
                 std::chrono::seconds idle_timeout, HttpMetrics& metrics)
      : connection_(connection),
        request_(request),
        idle_timeout_(idle_timeout),
        metrics_(metrics),
        usable_(request.keeps_connection()) {}

  /// Writes a complete reply. The caller must flush the connection.
  void reply(const Reply& reply);

  /// Answers that the server failed, unless a response has begun. Gives up the connection.
  void fail();

  /// Sends the head of an event stream, from which the client learns that its call runs.
  void begin_stream();
  /// Sends a part of the stream immediately. Returns false when the client has disconnected.
  bool send(std::string_view bytes);
  /// Sends the end of the stream.
  void end_stream();

  bool begun() const { return begun_; }
  /// Adds a header to the response. Must be called before the response begins.
  void add_header(const std::string& name, const std::string& value) {
    more_headers_.append(name).append(": ").append(value).append("\r\n");
  }
  /// The status of the answer, or 0 if none has begun.
  int status() const { return status_; }
  Refusal refusal() const { return refusal_; }
  /// The number of bytes of the answer's body that were written.
  std::int64_t bytes() const { return bytes_; }
  /// Prevents further requests on this connection.
  void give_up_connection() { usable_ = false; }
  bool connection_usable() const { return usable_ && !connection_.broken(); }

  Connection& connection() { return connection_; }

 private:
  void write_head(int status, std::string_view further_headers);

  Connection& connection_;
  const HttpRequest& request_;
  const std::chrono::seconds idle_timeout_;
  HttpMetrics& metrics_;
  bool usable_;
  bool begun_ = false;
  std::string more_headers_;
  int status_ = 0;
  Refusal refusal_ = Refusal::none;
  std::int64_t bytes_ = 0;
};

}  // namespace assay::mcp
