// Session represents one client of the legacy era of MCP. A session begins with the request
// `initialize` and ends with the client's connection (stdio) or HTTP session. It contains the
// client's capabilities and subscriptions, and sends the messages that belong to no request. The
// stateless era has no sessions: there, each request contains the client's capabilities.
//
//   const auto session = std::make_shared<Session>("stdio", write_line);
//   const ChangeNotifier::Listener listener = dispatcher.join(*session);  // subscribes to changes
//
// Thread-safe.
#pragma once

#include <atomic>
#include <functional>
#include <set>
#include <string>

#include "base/json.h"
#include "base/mutex.h"
#include "server/mcp/core/input.h"
#include "server/mcp/protocol/protocol.h"

namespace assay::mcp {

class Session {
 public:
  /// `id` identifies the client; request ids are unique within one client. `send` sends messages
  /// that belong to no request. The clock must outlive the session.
  Session(std::string id, ServerRequests::Send send, const Clock& clock = system_clock())
      : questions(clock), id_(std::move(id)), send_(std::move(send)) {}

  const std::string& id() const { return id_; }
  void send(const nlohmann::json& message) const { send_(message); }

  /// Stores the result of `initialize`.
  void open(std::string version, nlohmann::json capabilities) {
    const MutexLock lock(mutex_);
    version_ = std::move(version);
    capabilities_ = std::move(capabilities);
  }
  std::string version() const {
    const MutexLock lock(mutex_);
    return version_;
  }
  nlohmann::json capabilities() const {
    const MutexLock lock(mutex_);
    return capabilities_;
  }

  /// Subscribes to a resource. Returns false if the subscription would be new and the session
  /// already has `limit` subscriptions.
  bool subscribe(const std::string& uri, std::size_t limit) {
    const MutexLock lock(mutex_);
    if (subscribed_.count(uri) == 0 && subscribed_.size() >= limit) return false;
    subscribed_.insert(uri);
    return true;
  }
  void unsubscribe(const std::string& uri) {
    const MutexLock lock(mutex_);
    subscribed_.erase(uri);
  }
  bool subscribed(const std::string& uri) const {
    const MutexLock lock(mutex_);
    return subscribed_.count(uri) > 0;
  }

  /// The lowest level of log messages that the client receives. It is `info` until the client sets
  /// a level.
  std::atomic<LogLevel> log_level{LogLevel::info};
  ServerRequests questions;

 private:
  const std::string id_;
  const ServerRequests::Send send_;
  mutable Mutex mutex_;
  std::string version_ ASSAY_GUARDED_BY(mutex_);  // empty before `initialize`
  nlohmann::json capabilities_ ASSAY_GUARDED_BY(mutex_) = nlohmann::json::object();
  std::set<std::string> subscribed_ ASSAY_GUARDED_BY(mutex_);
};

}  // namespace assay::mcp
