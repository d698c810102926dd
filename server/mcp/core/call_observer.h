// CallObserver is a function of the application that learns of each message that the server has
// handled: for an audit log, for metrics or for traces.
//
//   const CallObserver observer = [](const ObservedCall& observed) {
//     log::info("handled", {{"method", observed.call.message.method}});
//   };
//
// Threads that handle messages call the function simultaneously, before the answer is sent. So it
// must be thread-safe and fast.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>

#include "base/json.h"
#include "base/trace_parent.h"
#include "server/mcp/core/call.h"
#include "server/mcp/core/message_counts.h"

namespace assay::mcp {

struct ObservedCall {
  const ResolvedCall& call;
  const TransportContext& transport;
  const std::optional<nlohmann::json>& response;  // empty: the message has no answer
  MessageCounts::Ending ending;
  std::int64_t start_unix_ms, duration_ns;
  /// The span of this message, and the span of the client that caused it.
  const TraceParent& span;
  const std::optional<TraceParent>& parent;
};

using CallObserver = std::function<void(const ObservedCall& observed)>;

}  // namespace assay::mcp
