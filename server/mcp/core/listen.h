// subscriptions/listen (2026-07-28): a request that lasts. It acknowledges the changes that it will
// report, then reports them until the client or the server ends it.
//
//   const Rpc<ListenFilter> filter = read_filter(params);
//   if (!filter) return tl::unexpected<RpcError>(filter.error());
//   tell_changes(id, *filter, notifier, notify, to_notification, ended);  // until ended() is true
//
// Stateless, thread-safe. A change that comes again before it is sent is reported once.
#pragma once

#include <functional>
#include <nlohmann/json.hpp>
#include <set>
#include <string>

#include "server/mcp/core/change_notifier.h"
#include "server/mcp/protocol/jsonrpc.h"

namespace assay::mcp {

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
