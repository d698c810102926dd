#include "server/mcp/core/change_notifier.h"

#include "server/mcp/protocol/jsonrpc.h"

namespace assay::mcp {

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

}  // namespace assay::mcp
