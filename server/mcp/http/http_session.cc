#include "server/mcp/http/http_session.h"

#include "base/handle.h"

namespace assay::mcp {
namespace {

constexpr const char* kPrefix = "session";

}  // namespace

Reply unknown_session() {
  return error_reply(
      404, kInvalidRequest,
      "this session does not exist or has ended; open another one with 'initialize'");
}

HttpSession::HttpSession(Dispatcher& dispatcher, std::string id, std::string principal_in,
                         const SessionLimits& limits)
    : principal(std::move(principal_in)),
      log(limits.max_events, limits.max_event_bytes),
      client(
          std::move(id), [this](const nlohmann::json& message) { log.append(0, dump(message)); },
          dispatcher.clock()),
      clock_(dispatcher.clock()),
      last_used_ns_(clock_.monotonic_ns()),
      listener_(dispatcher.join(client)) {}

void HttpSession::replace_standalone_stream(std::stop_source end) {
  {
    const MutexLock lock(mutex_);
    std::swap(standalone_stream_, end);
  }
  end.request_stop();
}

bool HttpSessions::idle(const HttpSession& session, std::int64_t limit_ms) const {
  return session.uses_ == 0 &&
         dispatcher_.clock().monotonic_ns() - session.last_used_ns_ >= limit_ms * 1'000'000;
}

void HttpSessions::drop(std::map<std::string, std::shared_ptr<HttpSession>>::iterator session) {
  session->second->log.close();
  dispatcher_.cancel_scope(session->first);
  sessions_.erase(session);
}

void HttpSessions::make_room() {
  auto longest = sessions_.end();
  for (auto it = sessions_.begin(); it != sessions_.end();) {
    const auto now = it++;
    if (idle(*now->second, limits_.idle_ms))
      drop(now);
    else if (now->second->uses_ == 0 &&
             (longest == sessions_.end() ||
              now->second->last_used_ns_ < longest->second->last_used_ns_))
      longest = now;
  }
  if (sessions_.size() >= limits_.max_sessions && longest != sessions_.end()) drop(longest);
}

std::shared_ptr<HttpSession> HttpSessions::create(const std::string& principal) {
  const MutexLock lock(mutex_);
  if (sessions_.size() >= limits_.max_sessions) make_room();
  if (sessions_.size() >= limits_.max_sessions) return nullptr;
  const std::string id = new_handle(kPrefix);
  return sessions_[id] = std::make_shared<HttpSession>(dispatcher_, id, principal, limits_);
}

std::shared_ptr<HttpSession> HttpSessions::find(const std::string& id,
                                                const std::string& principal) {
  const MutexLock lock(mutex_);
  const auto found = sessions_.find(id);
  if (found == sessions_.end() || found->second->principal != principal) return nullptr;
  if (idle(*found->second, limits_.idle_ms)) {
    drop(found);
    return nullptr;
  }
  found->second->last_used_ns_ = dispatcher_.clock().monotonic_ns();
  return found->second;
}

bool HttpSessions::end(const std::string& id, const std::string& principal) {
  const MutexLock lock(mutex_);
  const auto found = sessions_.find(id);
  if (found == sessions_.end() || found->second->principal != principal) return false;
  drop(found);
  return true;
}

std::size_t HttpSessions::size() const {
  const MutexLock lock(mutex_);
  return sessions_.size();
}

std::optional<Reply> HttpSessions::enter(Call& call, const HeaderLookup& header,
                                         std::shared_ptr<HttpSession>& session) {
  const bool opens = call.resolved.message.kind == Message::Kind::request &&
                     call.resolved.message.method == "initialize";
  if (opens) {
    session = create(call.transport.principal());
    if (!session) return busy_reply("too many sessions are in use");
  } else if (const auto id = header(kHeaderSession)) {
    session = find(*id, call.transport.principal());
    if (!session) return unknown_session();
  }
  if (!session) return std::nullopt;
  call.transport.session = std::shared_ptr<Session>(session, &session->client);
  call.transport.scope = session->client.id();
  return std::nullopt;
}

}  // namespace assay::mcp
