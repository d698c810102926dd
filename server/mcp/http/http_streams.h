// Answers that are server-sent events: a call that reports while it runs, and what a session has
// for a client that comes back.
//
//   streams.answer_call(call, session, place, connection, response);
//   streams.resume(session, place, connection, response);
//
// Thread-safe. The answer is written after the call returns, by the library, on the same thread.
#pragma once

#include <atomic>
#include <functional>
#include <memory>

#include "base/concurrency_limiter.h"
#include "server/mcp/core/dispatch.h"
#include "server/mcp/http/connection.h"
#include "server/mcp/http/event_log.h"
#include "server/mcp/http/event_stream.h"
#include "server/mcp/http/http_library.h"
#include "server/mcp/http/http_session.h"

namespace assay::mcp {

class HttpStreams {
 public:
  /// `stopping`: streams end soon after it becomes true.
  HttpStreams(Dispatcher& dispatcher, const std::atomic<bool>& stopping, int max_streams)
      : dispatcher_(dispatcher), stopping_(stopping), seats_(max_streams) {}

  /// Runs `call` and sends what it says, its result last. `place` is given back when the stream
  /// ends.
  void answer_call(Call call, std::shared_ptr<HttpSession> session,
                   std::shared_ptr<ConcurrencyLimiter::Pass> place, Connection& connection,
                   httplib::Response& response);

  /// What `session` has after `place`; for the stream of what belongs to no request, until the
  /// session ends or another such stream is opened.
  void resume(std::shared_ptr<HttpSession> session, EventLog::Place place, Connection& connection,
              httplib::Response& response);

  int open() const { return seats_.inside(); }

 private:
  /// Answers with the events that `write` sends; `write` returns when there will be no more.
  void answer(httplib::Response& response, Connection& connection,
              std::shared_ptr<ConcurrencyLimiter::Pass> place,
              std::function<void(EventStream&)> write);

  Dispatcher& dispatcher_;
  const std::atomic<bool>& stopping_;
  ConcurrencyLimiter seats_;
};

}  // namespace assay::mcp
