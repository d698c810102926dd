// ChangeNotifier passes changes on to listeners: legacy sessions and subscriptions/listen streams.
//
//   const ChangeNotifier::Listener listener =
//       notifier.listen([](const Change& change) { count(change); });  // until `listener` dies
//   notifier.publish({.kind = Change::Kind::tools});
//
// Thread-safe. A listener is called on the publisher's thread, one at a time, until its destructor
// returns. It must be quick, and it must neither publish nor listen.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>

#include "base/mutex.h"

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

}  // namespace assay::mcp
