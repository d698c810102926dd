// Answers that are server-sent events: a call that reports while it runs, and the events that a
// session kept for a client that comes back.
//
//   streams.answer_call(call, session, response);
//   streams.resume(session, place, response);
//
// Thread-safe. Each function returns when its stream has ended.
#pragma once

#include <atomic>
#include <functional>
#include <memory>

#include "base/concurrency_limiter.h"
#include "server/mcp/core/dispatch.h"
#include "server/mcp/http/event_stream.h"
#include "server/mcp/http/http_endpoint.h"
#include "server/mcp/http/http_response.h"
#include "server/mcp/http/http_session.h"

namespace assay::mcp {

class HttpStreams {
 public:
  /// `stopping`: streams end soon after it becomes true.
  HttpStreams(Dispatcher& dispatcher, const std::atomic<bool>& stopping, int max_streams)
      : dispatcher_(dispatcher), stopping_(stopping), seats_(max_streams) {}

  /// Runs `call` and sends its messages, the result last. `session` may be null.
  void answer_call(const Call& call, const std::shared_ptr<HttpSession>& session,
                   ResponseWriter& response);

  /// Sends the events that `session` kept after `place`. The stream of events that belong to no
  /// request goes on until the session ends or another such stream is opened.
  void resume(const std::shared_ptr<HttpSession>& session, EventLog::Place place,
              ResponseWriter& response);

  int open() const { return seats_.inside(); }

 private:
  /// Answers with the events that `write` sends. The stream ends when `write` returns.
  void answer(ResponseWriter& response, const std::function<void(EventStream&)>& write);

  Dispatcher& dispatcher_;
  const std::atomic<bool>& stopping_;
  ConcurrencyLimiter seats_;
};

}  // namespace assay::mcp
