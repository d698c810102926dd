// ToolCaller performs tools/call from start to end. It finds the tool, checks the arguments, runs
// the tool, and asks the client for the input that the tool needs. If the tool returns a function
// for the rest of the call (ToolResult::work) and the client accepts tasks, this function becomes a
// task. A client of 2025-11-25 that asks for a task gets one in any case, even if the tool has
// already returned its result.
//
//   ToolCaller caller(tools, tasks, signature);
//   const Rpc<nlohmann::json> result = caller.call(call);
//
// The result is a CallToolResult, a CreateTaskResult or an InputRequiredResult. Thread-safe.
#pragma once

#include "base/json.h"
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
  /// Says whether this request may become a task. A stateless request declares the tasks extension
  /// if it accepts tasks. A request of 2025-11-25 has the member params.task if it accepts tasks.
  struct RequestedTask {
    bool takes = false;
    std::optional<std::int64_t> ttl_ms;
  };
  static Rpc<RequestedTask> requested_task(const ResolvedCall& call);
  Rpc<nlohmann::json> finish(const ToolRegistry::Entry& entry, ToolResult result, CallScope& call,
                             const RequestedTask& requested);
  Rpc<nlohmann::json> start_task(const ToolRegistry::Entry& entry, ToolResult result,
                                 CallScope& call, const RequestedTask& requested);

  const ToolRegistry& tools_;
  TaskTable& tasks_;
  const SignedState& seal_;
};

}  // namespace assay::mcp
