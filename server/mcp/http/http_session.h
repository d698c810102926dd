// Manages the sessions of an HTTP server. Only the legacy, session-based era has sessions. The
// request `initialize` opens a session, and the header Mcp-Session-Id names it. A session ends when
// the client sends DELETE, when the session is idle too long, or when a new session needs room.
//
//   const std::shared_ptr<HttpSession> opened = sessions.create(principal);  // null: no room
//   const std::shared_ptr<HttpSession> found = sessions.find(id, principal);
//
// Thread-safe. A session object that is in use stays valid after the session has ended, but find()
// no longer returns it.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <tl/expected.hpp>
#include <vector>

#include "base/mutex.h"
#include "server/mcp/core/change_notifier.h"
#include "server/mcp/core/dispatch.h"
#include "server/mcp/core/server.h"
#include "server/mcp/core/session.h"
#include "server/mcp/http/event_stream.h"
#include "server/mcp/http/http_endpoint.h"
#include "server/mcp/http/http_server.h"

namespace assay::mcp {

class HttpSession {
 public:
  HttpSession(Dispatcher& dispatcher, std::string id, std::string principal,
              const SessionLimits& limits);

  /// Marks a session as in use as long as this object exists. A session in use does not count as
  /// idle.
  class Use {
   public:
    explicit Use(std::shared_ptr<HttpSession> session) : session_(std::move(session)) {
      ++session_->uses_;
    }
    Use(const Use&) = delete;
    Use& operator=(const Use&) = delete;
    ~Use() {
      session_->last_used_ns_ = session_->clock_.monotonic_ns();
      --session_->uses_;
    }

   private:
    const std::shared_ptr<HttpSession> session_;
  };

  const std::string principal;
  EventLog log;
  Session client;
  /// The number of the last event that was sent to the client on stream 0, the stream of the events
  /// that belong to no request.
  std::atomic<std::uint64_t> standalone_delivered{0};
  /// Makes a new stream the session's stream of events that belong to no request. A session has
  /// only one such stream, so this function ends the previous one. A stop of `end` ends the new
  /// stream.
  void replace_standalone_stream(std::stop_source end);

 private:
  friend class HttpSessions;
  std::atomic<int> uses_{0};
  Mutex mutex_;
  std::stop_source standalone_stream_ ASSAY_GUARDED_BY(mutex_){std::nostopstate};
  const Clock& clock_;
  std::atomic<std::int64_t> last_used_ns_;
  const ChangeNotifier::Listener listener_;
};

/// Returns the reply to a request with an unknown Mcp-Session-Id.
Reply unknown_session();

class HttpSessions {
 public:
  HttpSessions(Dispatcher& dispatcher, const SessionLimits& limits)
      : dispatcher_(dispatcher), limits_(limits) {}

  /// Creates a session for the caller `principal`. Returns null if a maximum number of sessions is
  /// reached and every session that could make room is in use.
  std::shared_ptr<HttpSession> create(const std::string& principal);
  /// Returns the session with this id. Returns null if the session is unknown, has ended, or
  /// belongs to another caller than `principal`.
  std::shared_ptr<HttpSession> find(const std::string& id, const std::string& principal);
  /// A session, and the event of it after which a client wants to go on.
  struct Listening {
    std::shared_ptr<HttpSession> session;
    EventLog::Place place;
  };
  /// Returns what a GET of `principal` asks for. If the client names the last event that it
  /// received (Last-Event-ID), that is the rest of the broken stream. Otherwise it is the events
  /// that belong to no request. Returns the reply that refuses the request if it names no session
  /// or event.
  tl::expected<Listening, Reply> listen(const HeaderLookup& header, const std::string& principal);
  /// Ends a session: cancels its calls and ends its streams. Returns false if find() would return
  /// null.
  bool end(const std::string& id, const std::string& principal);
  /// Ends the sessions that were idle too long.
  void end_idle();
  std::size_t size() const;

  /// Assigns `call` to a session. `initialize` opens a new session. Any other request may name its
  /// session in a header. Sets `session` to the call's session, or leaves it null if the call has
  /// none. Returns the reply that refuses the call, or nothing if the call is not refused.
  std::optional<Reply> enter(Call& call, const HeaderLookup& header,
                             std::shared_ptr<HttpSession>& session);

 private:
  using Sessions = std::map<std::string, std::shared_ptr<HttpSession>>;
  /// Returns whether `principal` may open one more session now.
  bool has_room(const std::string& principal) const ASSAY_REQUIRES(mutex_);
  /// Sessions that find() no longer returns. close() ends their calls and streams.
  using Removed = std::vector<std::shared_ptr<HttpSession>>;
  /// Removes the sessions that were idle too long.
  void remove_idle(Removed& removed) ASSAY_REQUIRES(mutex_);
  /// Removes the sessions that were idle too long. If there is still no room for a new session of
  /// `principal`, also removes the session of this principal that was idle longest. If it has no
  /// idle session, removes one of the principal that has most sessions, if that principal has more.
  void make_room(const std::string& principal, Removed& removed) ASSAY_REQUIRES(mutex_);
  /// Returns the session of `principal` that was idle longest. Returns end() if all are in use.
  Sessions::iterator longest_idle(const std::string& principal) ASSAY_REQUIRES(mutex_);

  void remove(Sessions::iterator session, Removed& removed) ASSAY_REQUIRES(mutex_);
  /// Must be called without the mutex, because the end of a call runs callbacks of its handler,
  /// which may take long or use this object.
  void close(const Removed& removed) ASSAY_EXCLUDES(mutex_);
  bool idle(const HttpSession& session, std::int64_t limit_ms) const;

  Dispatcher& dispatcher_;
  const SessionLimits limits_;
  mutable Mutex mutex_;
  Sessions sessions_ ASSAY_GUARDED_BY(mutex_);
  // The numbers of sessions, by principal. No number is 0.
  std::map<std::string, std::size_t> counts_ ASSAY_GUARDED_BY(mutex_);
};

}  // namespace assay::mcp
