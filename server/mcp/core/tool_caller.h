// tools/call from start to end: find the tool, check its arguments, run it (asking the client where
// it needs input), and make the rest a task where the tool leaves one and the client takes one.
//
//   ToolCaller caller(tools, tasks, seal);
//   caller.call(call);  // a CallToolResult, CreateTaskResult or InputRequiredResult
//
// Thread-safe.
#pragma once

#include <nlohmann/json.hpp>

#include "server/mcp/core/call.h"
#include "server/mcp/core/task_table.h"
#include "server/mcp/core/tool.h"
#include "server/mcp/protocol/jsonrpc.h"

namespace assay::mcp {

class ToolCaller {
 public:
  ToolCaller(const ToolRegistry& tools, TaskTable& tasks, const SignedState& seal)
      : tools_(tools), tasks_(tasks), seal_(seal) {}

  Rpc<nlohmann::json> call(CallScope& call);

 private:
  /// How this request wants a task: the stateless era declares the extension, 2025-11-25 asks with
  /// params.task.
  struct TaskWish {
    bool takes = false;
    std::optional<std::int64_t> ttl_ms;
  };
  static Rpc<TaskWish> read_wish(const ResolvedCall& call);
  Rpc<nlohmann::json> finish(const ToolRegistry::Entry& entry, ToolResult result, CallScope& call,
                             const TaskWish& wish);
  Rpc<nlohmann::json> start_task(const ToolRegistry::Entry& entry, ToolResult result,
                                 CallScope& call, const TaskWish& wish);

  const ToolRegistry& tools_;
  TaskTable& tasks_;
  const SignedState& seal_;
};

}  // namespace assay::mcp
