#include "server/mcp/http/http_session.h"

#include <algorithm>
#include <utility>

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

void HttpSessions::remove(Sessions::iterator session, Removed& removed) {
  const auto count = counts_.find(session->second->principal);
  if (--count->second == 0) counts_.erase(count);
  removed.push_back(std::move(session->second));
  sessions_.erase(session);
}

void HttpSessions::close(const Removed& removed) {
  for (const std::shared_ptr<HttpSession>& session : removed) {
    session->log.close();
    dispatcher_.cancel_scope(session->client.id());
  }
}

bool HttpSessions::has_room(const std::string& principal) const {
  if (sessions_.size() >= limits_.max_sessions) return false;
  const auto own = counts_.find(principal);
  return principal.empty() || own == counts_.end() || own->second < limits_.principal_sessions;
}

HttpSessions::Sessions::iterator HttpSessions::longest_idle(const std::string& principal) {
  auto longest = sessions_.end();
  for (auto it = sessions_.begin(); it != sessions_.end(); ++it) {
    const HttpSession& session = *it->second;
    if (session.principal == principal && session.uses_ == 0 &&
        (longest == sessions_.end() || session.last_used_ns_ < longest->second->last_used_ns_))
      longest = it;
  }
  return longest;
}

void HttpSessions::remove_idle(Removed& removed) {
  for (auto it = sessions_.begin(); it != sessions_.end();) {
    const auto now = it++;
    if (idle(*now->second, limits_.idle_ms)) remove(now, removed);
  }
}

void HttpSessions::make_room(const std::string& principal, Removed& removed) {
  remove_idle(removed);
  if (has_room(principal)) return;
  auto ends = longest_idle(principal);
  if (ends == sessions_.end() && sessions_.size() >= limits_.max_sessions) {
    const auto most =
        std::max_element(counts_.begin(), counts_.end(),
                         [](const auto& a, const auto& b) { return a.second < b.second; });
    const auto own = counts_.find(principal);
    if (most != counts_.end() && (own == counts_.end() || own->second < most->second))
      ends = longest_idle(most->first);
  }
  if (ends != sessions_.end()) remove(ends, removed);
}

std::shared_ptr<HttpSession> HttpSessions::create(const std::string& principal) {
  Removed removed;
  std::shared_ptr<HttpSession> session;
  {
    const MutexLock lock(mutex_);
    if (!has_room(principal)) make_room(principal, removed);
    if (has_room(principal)) {
      const std::string id = new_handle(kPrefix);
      session = std::make_shared<HttpSession>(dispatcher_, id, principal, limits_);
      ++counts_[principal];
      sessions_[id] = session;
    }
  }
  close(removed);
  return session;
}

tl::expected<HttpSessions::Listening, Reply> HttpSessions::listen(const HeaderLookup& header,
                                                                  const std::string& principal) {
  auto session = find(header(kHeaderSession).value_or(""), principal);
  if (!session) return tl::unexpected(unknown_session());
  if (!accepts(header("Accept").value_or(""), "text/event-stream"))
    return tl::unexpected(error_reply(406, kInvalidRequest, "accept text/event-stream"));
  EventLog::Place place{0, session->standalone_delivered};
  if (const auto last = header("Last-Event-ID")) {
    const auto found = session->log.find(*last);
    if (!found)
      return tl::unexpected(
          error_reply(400, kInvalidRequest, "Last-Event-ID is no event of this session"));
    place = *found;
  }
  return Listening{std::move(session), place};
}

std::shared_ptr<HttpSession> HttpSessions::find(const std::string& id,
                                                const std::string& principal) {
  Removed removed;
  {
    const MutexLock lock(mutex_);
    const auto found = sessions_.find(id);
    if (found == sessions_.end() || found->second->principal != principal) return nullptr;
    if (!idle(*found->second, limits_.idle_ms)) {
      found->second->last_used_ns_ = dispatcher_.clock().monotonic_ns();
      return found->second;
    }
    remove(found, removed);
  }
  close(removed);
  return nullptr;
}

bool HttpSessions::end(const std::string& id, const std::string& principal) {
  Removed removed;
  {
    const MutexLock lock(mutex_);
    const auto found = sessions_.find(id);
    if (found == sessions_.end() || found->second->principal != principal) return false;
    remove(found, removed);
  }
  close(removed);
  return true;
}

void HttpSessions::end_idle() {
  Removed removed;
  {
    const MutexLock lock(mutex_);
    remove_idle(removed);
  }
  close(removed);
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
