#include "server/mcp/core/progress.h"

#include <cmath>

#include "server/mcp/protocol/jsonrpc.h"
#include "server/mcp/protocol/protocol.h"

namespace assay::mcp {

void ProgressGate::report(double progress, double total, const std::string& message) {
  if (token_.is_null() || !notify_ || !std::isfinite(progress)) return;
  const MutexLock lock(mutex_);
  const auto now = std::chrono::steady_clock::now();
  if (closed_ || (last_ && (progress <= *last_ || now - last_sent_ < min_interval_))) return;
  last_ = progress;
  last_sent_ = now;
  nlohmann::json params = {{kMetaProgressToken, token_}, {"progress", progress}};
  if (std::isfinite(total) && total > 0) params["total"] = total;
  if (!message.empty()) params["message"] = message;
  notify_(make_notification("notifications/progress", std::move(params)));
}

void ProgressGate::close() {
  const MutexLock lock(mutex_);
  closed_ = true;
}

}  // namespace assay::mcp
