// ChangeNotifier tells its listeners about changes, for example that a resource was updated. A
// listener belongs to the session of a legacy (session-based) client, or to the stream of a
// subscriptions/listen request.
//
//   std::atomic<int> changes = 0;
//   const ChangeNotifier::Listener listener =
//       notifier.listen([&](const Change&) { ++changes; });  // ends when `listener` dies
//   notifier.publish({.kind = Change::Kind::tools});
//
// subscriptions/listen (2026-07-28) is a request that stays open. tell_changes() acknowledges the
// kinds of changes that it will report, then reports changes until the client or the server ends
// the request. If the same change is published twice before it is sent, it is reported once.
//
// Thread-safe. A listener's function is called on the publisher's thread, one call at a time. The
// destructor of a listener waits for a running call. The function must be quick, and it must call
// neither publish() nor listen().
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <stop_token>
#include <string>

#include "base/json.h"
#include "base/mutex.h"
#include "server/mcp/protocol/jsonrpc.h"

namespace assay::mcp {

struct Change {
  enum class Kind { tools, prompts, resources, resource_updated, task };
  Kind kind;
  std::string subject = {};  // the URI of the changed resource, or the id of the changed task
};

/// Returns the notification for a change: notifications/.../list_changed or
/// notifications/resources/updated. The change must not be one of a task, because the notification
/// for a task differs between the protocol eras.
nlohmann::json to_notification(const Change& change);

class ChangeNotifier {
 public:
  using Hear = std::function<void(const Change& change)>;

  class Listener {
   public:
    Listener() = default;
    Listener(Listener&& other) noexcept
        : notifier_(std::exchange(other.notifier_, nullptr)), key_(other.key_) {}
    Listener& operator=(Listener&&) = delete;
    ~Listener() {
      if (notifier_ != nullptr) notifier_->forget(key_);
    }

   private:
    friend class ChangeNotifier;
    Listener(ChangeNotifier* notifier, std::uint64_t key) : notifier_(notifier), key_(key) {}
    ChangeNotifier* notifier_ = nullptr;
    std::uint64_t key_ = 0;
  };

  Listener listen(Hear hear);
  void publish(const Change& change) const;

 private:
  void forget(std::uint64_t key);

  mutable Mutex mutex_;
  std::map<std::uint64_t, Hear> listeners_ ASSAY_GUARDED_BY(mutex_);
  std::uint64_t next_ ASSAY_GUARDED_BY(mutex_) = 0;
};

/// The maximum number of URIs in one subscription, and also the maximum number of task ids. A
/// subscription with more is refused.
constexpr std::size_t kMaxSubscribedSubjects = 256;

/// The changes about which a client wants to be notified.
struct ListenFilter {
  bool tools = false, prompts = false, resources = false;
  std::set<std::string> uris, task_ids;

  bool admits(const Change& change) const;
  /// Returns the filter in the protocol's form. Members that are false or empty are omitted.
  nlohmann::json to_json() const;
};

/// Reads the changes that a client wants from params.notifications. The caller must remove from the
/// result the changes that the server does not offer.
Rpc<ListenFilter> read_filter(const nlohmann::json& params);

/// Sends the acknowledgement of a subscription, then the notification that `to_message` returns for
/// each change. If `to_message` returns null, nothing is sent. Every message contains the id of the
/// subscription. Returns when `stop` is requested.
void tell_changes(const nlohmann::json& id, const ListenFilter& filter, ChangeNotifier& notifier,
                  const std::function<void(const nlohmann::json&)>& notify,
                  const std::function<nlohmann::json(const Change&)>& to_message,
                  const std::stop_token& stop);

}  // namespace assay::mcp
