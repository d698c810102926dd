// Tasks: tool calls that outlive the request that started them. A client gets an id at once, and
// asks for the outcome until it is there.
//
//   mcp::Server server(info, limits, {.task_store = &store});  // without a store, tasks are kept
//   in
//                                                              // memory only
//
// Plain data. A TaskStore must be thread-safe.
//
// The wire forms of tasks, and the methods that ask for them: the extension of 2026-07-28 and the
// 2025-11-25 revision.
//
//   if (stateless && !meta.declares_extension(kTasksExtension))
//     return tl::unexpected<RpcError>(missing_tasks_extension());
//   return get_task(tasks, params, principal, stateless);
//
// Stateless, thread-safe.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "server/mcp/core/task_table.h"
#include "server/mcp/protocol/jsonrpc.h"

namespace assay::mcp {

enum class TaskStatus { working, input_required, completed, failed, cancelled };
std::string_view to_string(TaskStatus status);
std::optional<TaskStatus> task_status_from(std::string_view text);
constexpr bool is_terminal(TaskStatus status) {
  return status != TaskStatus::working && status != TaskStatus::input_required;
}

struct TaskRecord {
  std::string
      id;  // unguessable: whoever knows it may ask for the outcome, if it is the same principal
  std::string principal;  // who started it; empty: anybody
  TaskStatus status = TaskStatus::working;
  std::string message;  // for a person; may be empty
  std::int64_t created_unix_ms = 0, updated_unix_ms = 0;
  std::int64_t ttl_ms = 0;  // from creation; afterwards the task may be forgotten
  nlohmann::json outcome;   // completed: the CallToolResult; failed: the JSON-RPC error {code,
                            // message}; else null
};

/// Named limits, in docs/reference/limits.md.
struct TaskLimits {
  std::size_t max_tasks = 256;              // known at once; the oldest finished one makes room
  std::size_t threads = 16;                 // running at once; the others wait
  std::int64_t default_ttl_ms = 3'600'000;  // where the client asks for none
  std::int64_t max_ttl_ms = 86'400'000;
  std::int64_t poll_interval_ms = 1'000;  // what clients are told
};

/// Keeps records beyond the process. save() returns when the record would survive a crash: a client
/// hears of a task only after that.
class TaskStore {
 public:
  virtual ~TaskStore() = default;
  virtual Status save(const TaskRecord& record) = 0;
  /// Nothing when there is no such task.
  virtual Result<std::optional<TaskRecord>> load(const std::string& id) = 0;
};

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
