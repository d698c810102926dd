// The wire forms of tasks, and the methods that ask for them: the extension of 2026-07-28 and the
// 2025-11-25 revision.
//
//   if (stateless && !meta.declares_extension(kTasksExtension))
//     return tl::unexpected<RpcError>(missing_tasks_extension());
//   return get_task(tasks, params, principal, stateless);
//
// Stateless, thread-safe.
#pragma once

#include <nlohmann/json.hpp>

#include "server/mcp/core/task_table.h"
#include "server/mcp/protocol/jsonrpc.h"

namespace assay::mcp {

/// What a client without the extension is told.
RpcError missing_tasks_extension();

/// The extension's Task, with what its status adds: result, error or inputRequests.
nlohmann::json detailed_task(const TaskView& task, const TaskLimits& limits);
/// The extension's CreateTaskResult: a Task without additions.
nlohmann::json created_task(const TaskView& task, const TaskLimits& limits);
/// 2025-11-25's Task. There, a tool's isError is a failure.
nlohmann::json legacy_task(const TaskView& task, const TaskLimits& limits);

/// tasks/get of both eras, as `principal`.
Rpc<nlohmann::json> get_task(TaskTable& tasks, const nlohmann::json& params,
                             const std::string& principal, bool stateless);
/// tasks/cancel: an empty acknowledgement, or (2025-11-25) the task, and an error when it was over
/// already.
Rpc<nlohmann::json> cancel_task(TaskTable& tasks, const nlohmann::json& params,
                                const std::string& principal, bool stateless);
/// tasks/update of the extension.
Rpc<nlohmann::json> update_task(TaskTable& tasks, const nlohmann::json& params,
                                const std::string& principal);
/// tasks/result of 2025-11-25: waits for the end, then gives what the call would have given.
Rpc<nlohmann::json> task_result(TaskTable& tasks, const nlohmann::json& params,
                                const std::string& principal, const std::function<bool()>& give_up);

}  // namespace assay::mcp
