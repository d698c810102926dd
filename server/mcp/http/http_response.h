// ResponseWriter writes the answer to one HTTP request: a whole reply, or an event stream in
// chunks.
//
//   ResponseWriter response(connection, request, std::chrono::seconds(30), metrics);
//   response.reply({.status = 404});
//   connection.flush();
//   const bool again = response.connection_usable();
//
// It belongs to one thread at a time.
#pragma once

#include <chrono>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "server/mcp/http/connection.h"
#include "server/mcp/http/http_metrics.h"
#include "server/mcp/http/http_request.h"

namespace assay::mcp {

struct Reply {
  int status = 200;
  std::string body = {};  // empty: there is no body
  std::vector<std::pair<std::string, std::string>> headers = {};
  bool close = false;  // the body of the request was not read, so the connection must end
  std::string content_type = "application/json; charset=utf-8";
};

/// Returns a reply with a JSON-RPC error that has no id, for a request whose message was not read.
Reply error_reply(int status, int code, const std::string& message, bool close = false);

/// Refuses a request while a limit is reached, and asks the client to retry in a second. `what`
/// names the limit.
Reply busy_reply(const std::string& what);

/// Returns `reply` as bytes that close the connection, for a client whose request was not read.
std::string closing_reply(const Reply& reply);

class ResponseWriter {
 public:
  /// The client is told that its connection may be silent for `idle_timeout`. `connection`,
  /// `request` and `metrics` must outlive the writer.
  ResponseWriter(Connection& connection, const HttpRequest& request,
                 std::chrono::seconds idle_timeout, HttpMetrics& metrics)
      : connection_(connection),
        request_(request),
        idle_timeout_(idle_timeout),
        metrics_(metrics),
        usable_(request.keeps_connection()) {}

  /// Writes a whole reply. The caller flushes the connection.
  void reply(const Reply& reply);

  /// Sends the head of an event stream, which tells the client that its call runs.
  void begin_stream();
  /// Sends a part of the stream at once. Returns false when the client is gone.
  bool send(std::string_view bytes);
  /// Sends the end of the stream.
  void end_stream();

  bool begun() const { return begun_; }
  /// Lets no other request come on this connection.
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
};

}  // namespace assay::mcp
