// HttpStreams answers requests with server-sent events. The events are the messages that a call
// sends while it runs, the events that a session has kept for a client that reconnects, or the
// events of the application's pages.
//
//   streams.answer_call(call, session, response);
//   streams.resume(session, place, response);
//   streams.send_page_events(pages, "alice", response);
//
// A stream that belongs to no call can be open for as long as its client lives. Such a stream takes
// one of the places for listeners. If there is none, the functions reply with HTTP status 503. The
// stream of a call takes no place here, because HttpServer limits the calls.
//
// Thread-safe. The three functions return when the stream has ended.
#pragma once

#include <functional>
#include <list>
#include <memory>
#include <stop_token>
#include <string>

#include "base/mutex.h"
#include "server/mcp/core/dispatch.h"
#include "server/mcp/core/share_limiter.h"
#include "server/mcp/http/event_stream.h"
#include "server/mcp/http/http_application.h"
#include "server/mcp/http/http_endpoint.h"
#include "server/mcp/http/http_pages.h"
#include "server/mcp/http/http_response.h"
#include "server/mcp/http/http_session.h"

namespace assay::mcp {

class HttpStreams {
 public:
  /// A function that makes the listener watch a connection while a worker uses it. When the client
  /// disconnects, the listener requests a stop of the source.
  using WatchHangUp = std::function<void(const Connection&, std::stop_source)>;

  HttpStreams(Dispatcher& dispatcher, WatchHangUp watch_hang_up, ShareLimiter::Places listeners)
      : dispatcher_(dispatcher), watch_hang_up_(std::move(watch_hang_up)), listeners_(listeners) {}

  /// Runs `call` and sends its messages as events. The last event is the result. `session` may be
  /// null.
  void answer_call(const Call& call, const std::shared_ptr<HttpSession>& session,
                   ResponseWriter& response);

  /// Sends the events that follow `place` in its stream: the events that `session` has kept, then
  /// new events when they occur. The stream of a call ends when the call has ended. The stream of
  /// the events that belong to no request ends when the session ends or a new stream of this kind
  /// replaces it.
  void resume(const std::shared_ptr<HttpSession>& session, EventLog::Place place,
              ResponseWriter& response);

  /// Sends the events of the pages until they end or the client disconnects.
  void send_page_events(HttpPages& pages, const std::string& principal, ResponseWriter& response);

  void set_listeners(ShareLimiter::Places places) { listeners_.set_places(places); }
  /// Sends the events of `write` to the client. The stream ends when `write` returns. The token
  /// that `write` gets is stopped if the client disconnects or the server stops.
  void answer_events(ResponseWriter& response, const WriteEvents& write);

  int open() const;
  /// Returns the number of open streams that belong to no call.
  int listening() const { return static_cast<int>(listeners_.inside()); }
  /// Sends a comment on each stream that has been silent for a long time. Does not wait for any
  /// client.
  void keep_alive();
  /// Ends all open streams. A stream that begins later ends immediately.
  void end();

 private:
  /// An open stream. A stop of `end` is requested if the client has disconnected or the stream must
  /// end.
  struct Open {
    EventStream& events;
    const Connection& connection;
    std::stop_source end;
  };
  /// Keeps a stream in streams_ as long as this object exists.
  class Listed {
   public:
    Listed(HttpStreams& owner, Open stream);
    Listed(const Listed&) = delete;
    Listed& operator=(const Listed&) = delete;
    ~Listed();

   private:
    HttpStreams& owner_;
    std::list<Open>::iterator place_;
  };
  /// Answers a request with the events that `write` sends. The stream ends when `write` returns.
  void answer(ResponseWriter& response,
              const std::function<void(EventStream&, const std::stop_source& end)>& write);

  Dispatcher& dispatcher_;
  const WatchHangUp watch_hang_up_;
  ShareLimiter listeners_;
  mutable Mutex mutex_;
  std::list<Open> streams_ ASSAY_GUARDED_BY(mutex_);
  bool ended_ ASSAY_GUARDED_BY(mutex_) = false;
};

}  // namespace assay::mcp
