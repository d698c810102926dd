// The requests that run or wait, so that notifications/cancelled can find them.
//
//   const InFlight::Ticket ticket = in_flight.open(scope, id);  // in the table until it dies
//   in_flight.cancel(scope, id);                                // from another thread
//   if (ticket.cancelled()) return;
//
// Ids are unique only per client, so a request is found by (scope, id): the stdio pipe, or a legacy
// HTTP session. With an empty scope nothing can be cancelled by id. Thread-safe.
#pragma once

#include <atomic>
#include <list>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>

#include "base/mutex.h"

namespace assay::mcp {

class InFlight {
 private:
  struct Entry {
    std::string scope;
    nlohmann::json id;
    std::atomic<bool> cancelled{false};
  };
  using Entries = std::list<std::shared_ptr<Entry>>;

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
    bool cancelled() const { return entry_ && entry_->cancelled; }

   private:
    friend class InFlight;
    Ticket(InFlight* owner, std::shared_ptr<Entry> entry)
        : owner_(owner), entry_(std::move(entry)) {}
    InFlight* owner_ = nullptr;
    std::shared_ptr<Entry> entry_;
  };

  Ticket open(std::string scope, nlohmann::json id) {
    auto entry = std::make_shared<Entry>();
    entry->scope = std::move(scope);
    entry->id = std::move(id);
    const MutexLock lock(mutex_);
    entries_.push_back(entry);
    return Ticket(this, entry);
  }

  /// An unknown or finished request is ignored: the notification may simply have come too late.
  void cancel(const std::string& scope, const nlohmann::json& id) {
    if (scope.empty()) return;
    const MutexLock lock(mutex_);
    for (const auto& entry : entries_) {
      if (entry->scope == scope && entry->id == id) entry->cancelled = true;
    }
  }

  /// Everything of one client.
  void cancel_scope(const std::string& scope) {
    const MutexLock lock(mutex_);
    for (const auto& entry : entries_) {
      if (entry->scope == scope) entry->cancelled = true;
    }
  }

  void cancel_all() {
    const MutexLock lock(mutex_);
    for (const auto& entry : entries_) entry->cancelled = true;
  }

  std::size_t size() const {
    const MutexLock lock(mutex_);
    return entries_.size();
  }

 private:
  void erase(const std::shared_ptr<Entry>& entry) {
    const MutexLock lock(mutex_);
    entries_.remove(entry);
  }

  mutable Mutex mutex_;
  Entries entries_ ASSAY_GUARDED_BY(mutex_);
};

}  // namespace assay::mcp
