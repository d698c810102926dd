#include "server/mcp/core/change_notifier.h"

#include <algorithm>
#include <vector>

#include "base/mutex.h"
#include "server/mcp/protocol/jsonrpc.h"

namespace assay::mcp {
namespace {

using nlohmann::json;

/// The queue of the changes that one subscription still has to send. A change that is already in
/// the queue is not added again.
class Pending {
 public:
  void add(const Change& change) {
    {
      const MutexLock lock(mutex_);
      const bool known = std::any_of(changes_.begin(), changes_.end(), [&](const Change& other) {
        return other.kind == change.kind && other.subject == change.subject;
      });
      if (known) return;
      changes_.push_back(change);
    }
    arrived_.notify_one();
  }
  /// Waits for a change and returns all queued changes. Returns an empty vector if `stop` is
  /// requested first.
  std::vector<Change> take(std::stop_token stop) {
    MutexLock lock(mutex_);
    arrived_.wait(lock, std::move(stop),
                  [this]() ASSAY_REQUIRES(mutex_) { return !changes_.empty(); });
    return std::exchange(changes_, {});
  }

 private:
  Mutex mutex_;
  Condition arrived_;
  std::vector<Change> changes_ ASSAY_GUARDED_BY(mutex_);
};

Rpc<std::set<std::string>> read_subjects(const json& filter, const char* key) {
  std::set<std::string> out;
  const auto found = filter.find(key);
  if (found == filter.end()) return out;
  const auto refuse = [&] {
    return refuse_rpc(kInvalidParams, std::string("params.notifications.") + key +
                                          " must be an array of at most " +
                                          std::to_string(kMaxSubscribedSubjects) + " strings");
  };
  if (!found->is_array() || found->size() > kMaxSubscribedSubjects) return refuse();
  for (const json& entry : *found) {
    if (!entry.is_string()) return refuse();
    out.insert(entry.get<std::string>());
  }
  return out;
}

}  // namespace

nlohmann::json to_notification(const Change& change) {
  using nlohmann::json;
  switch (change.kind) {
    case Change::Kind::tools:
      return make_notification("notifications/tools/list_changed", json::object());
    case Change::Kind::prompts:
      return make_notification("notifications/prompts/list_changed", json::object());
    case Change::Kind::resources:
      return make_notification("notifications/resources/list_changed", json::object());
    case Change::Kind::resource_updated:
      return make_notification("notifications/resources/updated", {{"uri", change.subject}});
    case Change::Kind::task: break;
  }
  return nullptr;
}

ChangeNotifier::Listener ChangeNotifier::listen(Hear hear) {
  const MutexLock lock(mutex_);
  listeners_[next_] = std::move(hear);
  return Listener(this, next_++);
}

void ChangeNotifier::publish(const Change& change) const {
  const MutexLock lock(mutex_);
  for (const auto& [key, hear] : listeners_) hear(change);
}

void ChangeNotifier::forget(std::uint64_t key) {
  const MutexLock lock(mutex_);
  listeners_.erase(key);
}

bool ListenFilter::admits(const Change& change) const {
  switch (change.kind) {
    case Change::Kind::tools: return tools;
    case Change::Kind::prompts: return prompts;
    case Change::Kind::resources: return resources;
    case Change::Kind::resource_updated: return uris.count(change.subject) > 0;
    case Change::Kind::task: return task_ids.count(change.subject) > 0;
  }
  return false;
}

json ListenFilter::to_json() const {
  json out = json::object();
  if (tools) out["toolsListChanged"] = true;
  if (prompts) out["promptsListChanged"] = true;
  if (resources) out["resourcesListChanged"] = true;
  if (!uris.empty()) out["resourceSubscriptions"] = uris;
  if (!task_ids.empty()) out["taskIds"] = task_ids;
  return out;
}

Rpc<ListenFilter> read_filter(const json& params) {
  const auto found = params.find("notifications");
  if (found == params.end() || !found->is_object())
    return refuse_rpc(
        kInvalidParams,
        "params.notifications must be an object, such as {\"toolsListChanged\": true}");
  ListenFilter filter;
  for (const auto& [key, target] : {std::pair{"toolsListChanged", &filter.tools},
                                    {"promptsListChanged", &filter.prompts},
                                    {"resourcesListChanged", &filter.resources}}) {
    const auto value = found->find(key);
    if (value == found->end()) continue;
    if (!value->is_boolean())
      return refuse_rpc(kInvalidParams,
                        std::string("params.notifications.") + key + " must be true or false");
    *target = value->get<bool>();
  }
  auto uris = read_subjects(*found, "resourceSubscriptions");
  if (!uris) return tl::unexpected<RpcError>(uris.error());
  auto task_ids = read_subjects(*found, "taskIds");
  if (!task_ids) return tl::unexpected<RpcError>(task_ids.error());
  filter.uris = std::move(*uris);
  filter.task_ids = std::move(*task_ids);
  return filter;
}

void tell_changes(const json& id, const ListenFilter& filter, ChangeNotifier& notifier,
                  const std::function<void(const json&)>& notify,
                  const std::function<json(const Change&)>& to_message,
                  const std::stop_token& stop) {
  const auto tell = [&](json message) {
    message["params"]["_meta"][kMetaSubscription] = id;
    notify(message);
  };
  Pending pending;
  const ChangeNotifier::Listener listener = notifier.listen([&](const Change& change) {
    if (filter.admits(change)) pending.add(change);
  });
  tell(make_notification("notifications/subscriptions/acknowledged",
                         {{"notifications", filter.to_json()}}));
  while (!stop.stop_requested()) {
    for (const Change& change : pending.take(stop)) {
      if (json message = to_message(change); !message.is_null()) tell(std::move(message));
    }
  }
}

}  // namespace assay::mcp
