// The legacy sessions of an HTTP server: made by `initialize`, named by Mcp-Session-Id, ended by
// DELETE, by silence, or to make room.
//
//   auto session = sessions.create(principal);                  // null: no room
//   auto session = sessions.find(id, principal);                // null: unknown, ended, or
//   somebody else's
//
// Thread-safe. A session that is in use lives on after its end, but cannot be found any more.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>

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

  /// While it lives the session is not idle.
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
  std::atomic<std::uint64_t> standalone_delivered{
      0};  // number of the last event of stream 0 that went out
  std::atomic<std::uint64_t> standalone_streams{0};  // the newest GET stream wins

 private:
  friend class HttpSessions;
  std::atomic<int> uses_{0};
  const Clock& clock_;
  std::atomic<std::int64_t> last_used_ns_;
  const ChangeNotifier::Listener listener_;
};

/// What a request with an unknown Mcp-Session-Id gets.
Reply unknown_session();

class HttpSessions {
 public:
  HttpSessions(Dispatcher& dispatcher, const SessionLimits& limits)
      : dispatcher_(dispatcher), limits_(limits) {}

  /// Null when there is no room and every session is in use.
  std::shared_ptr<HttpSession> create(const std::string& principal);
  std::shared_ptr<HttpSession> find(const std::string& id, const std::string& principal);
  /// Its calls are cancelled and its streams end. False when there is no such session.
  bool end(const std::string& id, const std::string& principal);
  std::size_t size() const;

  /// Gives `call` the session that it belongs to: `initialize` opens one, other requests may name
  /// theirs. Sets `session` (null: none), or says why not.
  std::optional<Reply> enter(Call& call, const HeaderLookup& header,
                             std::shared_ptr<HttpSession>& session);

 private:
  void drop(std::map<std::string, std::shared_ptr<HttpSession>>::iterator session)
      ASSAY_REQUIRES(mutex_);
  bool idle(const HttpSession& session, std::int64_t limit_ms) const;
  /// Ends what has been idle too long; where that makes no room, the session that was idle longest.
  void make_room() ASSAY_REQUIRES(mutex_);

  Dispatcher& dispatcher_;
  const SessionLimits limits_;
  mutable Mutex mutex_;
  std::map<std::string, std::shared_ptr<HttpSession>> sessions_ ASSAY_GUARDED_BY(mutex_);
};

}  // namespace assay::mcp
