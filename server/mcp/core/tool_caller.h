// tools/call from start to end: find the tool, check its arguments, run it (asking the client where
// it needs input), and make the rest a task where the tool leaves one and the client takes one.
//
//   ToolCaller caller(tools, tasks, seal, in_flight);
//   caller.call(message, exchange, stateless, cancelled)         ->  a CallToolResult,
//   CreateTaskResult or InputRequiredResult
//
// Thread-safe.
#pragma once

#include <nlohmann/json.hpp>

#include "server/mcp/core/call_scope.h"
#include "server/mcp/core/task_table.h"
#include "server/mcp/core/tool_registry.h"
#include "server/mcp/core/transport_context.h"
#include "server/mcp/protocol/rpc.h"

namespace assay::mcp {

class ToolCaller {
 public:
  ToolCaller(const ToolRegistry& tools, TaskTable& tasks, const SignedState& seal,
             InFlight& in_flight)
      : tools_(tools), tasks_(tasks), seal_(seal), in_flight_(in_flight) {}

  /// `cancelled` becomes true when the client wants no answer any more.
  Rpc<nlohmann::json> call(const Message& message, const TransportContext& exchange, bool stateless,
                           bool& cancelled);

 private:
  /// How this request wants a task: the stateless era declares the extension, 2025-11-25 asks with
  /// params.task.
  struct TaskWish {
    bool takes = false;
    std::optional<std::int64_t> ttl_ms;
  };
  static Rpc<TaskWish> read_wish(const Message& message, bool stateless, TaskSupport support);
  Rpc<nlohmann::json> finish(const ToolRegistry::Entry& entry, ToolResult result, CallScope& call,
                             const TaskWish& wish);
  Rpc<nlohmann::json> start_task(const ToolRegistry::Entry& entry, ToolResult result,
                                 CallScope& call, const TaskWish& wish);

  const ToolRegistry& tools_;
  TaskTable& tasks_;
  const SignedState& seal_;
  InFlight& in_flight_;
};

}  // namespace assay::mcp
