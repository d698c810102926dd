// ChangeNotifier passes changes on to listeners: legacy sessions and subscriptions/listen streams.
//
//   const ChangeNotifier::Listener listener =
//       notifier.listen([](const Change& change) { count(change); });  // until `listener` dies
//   notifier.publish({.kind = Change::Kind::tools});
//
// Thread-safe. A listener is called on the publisher's thread, one at a time, until its destructor
// returns. It must be quick, and it must neither publish nor listen.
//
// subscriptions/listen (2026-07-28): a request that lasts. It acknowledges the changes that it will
// report, then reports them until the client or the server ends it.
//
//   const Rpc<ListenFilter> filter = read_filter(params);
//   if (!filter) return tl::unexpected<RpcError>(filter.error());
//   tell_changes(id, *filter, notifier, notify, to_notification, ended);  // until ended() is true
//
// Stateless, thread-safe. A change that comes again before it is sent is reported once.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <set>
#include <string>

#include "base/mutex.h"
#include "server/mcp/protocol/jsonrpc.h"

namespace assay::mcp {

struct Change {
  enum class Kind { tools, prompts, resources, resource_updated, task };
  Kind kind;
  std::string subject = {};         // a resource's URI or a task's id
  nlohmann::json detail = nullptr;  // a task's new state
};

/// notifications/.../list_changed, or notifications/resources/updated. Not for tasks: each era has
/// its own form.
nlohmann::json to_notification(const Change& change);

class ChangeNotifier {
 public:
  using Hear = std::function<void(const Change& change)>;

  class Listener {
   public:
    Listener() = default;
    Listener(Listener&& other) noexcept
        : hub_(std::exchange(other.hub_, nullptr)), key_(other.key_) {}
    Listener& operator=(Listener&&) = delete;
    ~Listener() {
      if (hub_ != nullptr) hub_->forget(key_);
    }

   private:
    friend class ChangeNotifier;
    Listener(ChangeNotifier* hub, std::uint64_t key) : hub_(hub), key_(key) {}
    ChangeNotifier* hub_ = nullptr;
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

/// URIs and task ids of one subscription; more are refused.
constexpr std::size_t kMaxSubscribedSubjects = 256;

struct ListenFilter {
  bool tools = false, prompts = false, resources = false;
  std::set<std::string> uris, task_ids;

  bool admits(const Change& change) const;
  /// The protocol's form: only what is true or not empty.
  nlohmann::json to_json() const;
};

/// params.notifications as the client wrote it. The caller then removes what the server does not
/// offer.
Rpc<ListenFilter> read_filter(const nlohmann::json& params);

/// Sends the acknowledgement, then each change as `to_message` writes it (null: not told), tagged
/// with the subscription's id.
void tell_changes(const nlohmann::json& id, const ListenFilter& filter, ChangeNotifier& hub,
                  const std::function<void(const nlohmann::json&)>& notify,
                  const std::function<nlohmann::json(const Change&)>& to_message,
                  const std::function<bool()>& ended);

}  // namespace assay::mcp
