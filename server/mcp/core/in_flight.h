// InFlight is the table of the requests that run or wait. When a client sends
// notifications/cancelled, the server finds the request to cancel in this table. Thread-safe.
//
//   const InFlight::Ticket ticket = in_flight.open(scope, id);  // in the table while it exists
//   in_flight.cancel(scope, id);                                // another thread may call this
//   if (ticket.cancelled()) return;
//
// Ids are unique only within one client, so the key of a request is (scope, id). A scope names a
// client: it is the stdio pipe or a session over HTTP. A request with an empty scope cannot be
// cancelled by its id.
#pragma once

#include <algorithm>
#include <atomic>
#include <iterator>
#include <list>
#include <memory>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include "base/json.h"
#include "base/mutex.h"

namespace assay::mcp {

class InFlight {
 private:
  struct Entry {
    std::string scope;
    nlohmann::json id;
    std::atomic<bool> cancelled{false};
    std::atomic<bool> server_ends{false};
    std::stop_source stop;
  };

 public:
  class Ticket {
   public:
    Ticket() = default;
    Ticket(Ticket&& other) noexcept
        : owner_(std::exchange(other.owner_, nullptr)), entry_(std::move(other.entry_)) {}
    Ticket& operator=(Ticket&&) = delete;
    Ticket(const Ticket&) = delete;
    Ticket& operator=(const Ticket&) = delete;
    ~Ticket() {
      if (owner_ != nullptr) owner_->erase(entry_);
    }
    /// Returns true if the client cancelled the request, or if the end of its session did so. The
    /// client then expects no answer.
    bool cancelled() const { return entry_ && entry_->cancelled; }
    /// Returns true when the server's shutdown stopped the work of the request. The client still
    /// expects an answer.
    bool server_ends() const { return entry_ && entry_->server_ends; }
    /// Returns the token that tells the request's work to stop.
    std::stop_token stop() const { return entry_ ? entry_->stop.get_token() : std::stop_token(); }
    /// Stops the work because the client has disconnected. cancelled() stays false.
    void request_stop() const {
      if (entry_) entry_->stop.request_stop();
    }

   private:
    friend class InFlight;
    Ticket(InFlight* owner, std::shared_ptr<Entry> entry)
        : owner_(owner), entry_(std::move(entry)) {}
    InFlight* owner_ = nullptr;
    std::shared_ptr<Entry> entry_;
  };

  /// Adds a request to the table. After end_all(), the work of the new request is stopped at once.
  Ticket open(std::string scope, nlohmann::json id) {
    auto entry = std::make_shared<Entry>();
    entry->scope = std::move(scope);
    entry->id = std::move(id);
    const MutexLock lock(mutex_);
    entries_.push_back(entry);
    if (ended_) end(*entry);  // safe under the lock: no callback is registered with the entry yet
    return Ticket(this, entry);
  }

  /// Cancels a request. An unknown id is ignored, because the request may have ended before its
  /// cancellation arrived.
  void cancel(const std::string& scope, const nlohmann::json& id) {
    if (scope.empty()) return;
    cancel_if([&](const Entry& entry) { return entry.scope == scope && entry.id == id; });
  }

  /// Cancels all requests of one client.
  void cancel_scope(const std::string& scope) {
    cancel_if([&](const Entry& entry) { return entry.scope == scope; });
  }

  /// Stops the work of all requests of one client because the server shuts down.
  void end_scope(const std::string& scope) {
    cancel_if([&](const Entry& entry) { return entry.scope == scope; }, true);
  }
  /// Stops the work of all present and future requests of all clients because the server shuts
  /// down.
  void end_all() {
    {
      const MutexLock lock(mutex_);
      ended_ = true;
    }
    cancel_if([](const Entry&) { return true; }, true);
  }

  std::size_t size() const {
    const MutexLock lock(mutex_);
    return entries_.size();
  }

 private:
  template <class Wanted>
  void cancel_if(const Wanted& wanted, bool server_ends = false) {
    std::vector<std::shared_ptr<Entry>> found;
    {
      const MutexLock lock(mutex_);
      std::copy_if(entries_.begin(), entries_.end(), std::back_inserter(found),
                   [&](const auto& entry) { return wanted(*entry); });
    }
    // The mutex is not locked here, because a stop request runs callbacks of the handlers, which
    // may take long or use this table.
    for (const auto& entry : found) {
      if (server_ends)
        end(*entry);
      else
        stop(*entry);
    }
  }

  static void stop(Entry& entry) {
    entry.cancelled = true;
    entry.stop.request_stop();
  }
  static void end(Entry& entry) {
    entry.server_ends = true;
    entry.stop.request_stop();
  }

  void erase(const std::shared_ptr<Entry>& entry) {
    const MutexLock lock(mutex_);
    entries_.remove(entry);
  }

  mutable Mutex mutex_;
  std::list<std::shared_ptr<Entry>> entries_ ASSAY_GUARDED_BY(mutex_);
  bool ended_ ASSAY_GUARDED_BY(mutex_) = false;
};

}  // namespace assay::mcp
