// What a handler (of a tool, resource or prompt) may do besides answering: tell of its progress, and notice that nobody waits any more.
//
//   for (...) { if (context.cancelled()) return stopped(); context.progress(done, total, "3 of 10 cases"); }
//
// Lives as long as the call. A handler may use it from any of its threads until it returns.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "server/mcp/caller.h"

namespace assay::mcp {

struct RequestContext {
  /// Sends notifications/progress when the request carried a token; rate-limited and strictly rising. `total` 0: unknown. Never null.
  std::function<void(double progress, double total, const std::string& message)> progress;
  /// True once the client cancelled or, in the stateless era, hung up. Never null.
  std::function<bool()> cancelled;
  /// Whom the call comes from; null where no tokens are asked for.
  std::shared_ptr<const Caller> caller = nullptr;
  bool allows(std::string_view scope) const { return caller == nullptr || caller->allows(scope); }
};

}  // namespace assay::mcp
