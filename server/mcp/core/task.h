// Tasks: tool calls that outlive the request that started them. The client gets an id at once and
// asks with it for the outcome. This header has the record of a task, the store that keeps records,
// the JSON that clients see, and the methods tasks/*. task_table.h runs the tasks.
//
//   const TaskRecord record{.id = "task_1", .status = TaskStatus::working};
//   const Status saved = store.save(record);  // ServerParts::task_store names the store
//
// Two forms exist: the extension of revision 2026-07-28, and the tasks of 2025-11-25. The functions
// are thread-safe, and a TaskStore must be.
#pragma once

#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>

#include "base/result.h"
#include "server/mcp/core/input.h"
#include "server/mcp/protocol/jsonrpc.h"

namespace assay::mcp {

enum class TaskStatus { working, input_required, completed, failed, cancelled };
std::string_view to_string(TaskStatus status);
std::optional<TaskStatus> task_status_from(std::string_view text);
constexpr bool is_terminal(TaskStatus status) {
  return status != TaskStatus::working && status != TaskStatus::input_required;
}

struct TaskRecord {
  std::string id;         // unguessable; the same principal may ask with it for the outcome
  std::string principal;  // the caller that started the task; empty when callers have no names
  TaskStatus status = TaskStatus::working;
  std::string message;  // for a person; may be empty
  std::int64_t created_unix_ms = 0, updated_unix_ms = 0;
  std::int64_t ttl_ms = 0;  // from creation; afterwards the task may be forgotten
  /// completed: the CallToolResult. failed: the JSON-RPC error {code, message}. Otherwise null.
  nlohmann::json outcome;
};

/// A task, and the questions that it waits for. Only the process that runs the task has questions.
struct TaskView {
  TaskRecord record;
  std::map<std::string, InputRequest> input_requests;
};

/// Named limits; docs/reference/limits.md describes them.
struct TaskLimits {
  std::size_t max_tasks = 256;              // in the table; the oldest finished task makes room
  std::size_t threads = 16;                 // tasks that run at once; the others wait
  std::int64_t default_ttl_ms = 3'600'000;  // when the client names none
  std::int64_t max_ttl_ms = 86'400'000;
  std::int64_t poll_interval_ms = 1'000;  // the pause that clients are told to keep
};

/// Keeps records beyond the process. save() returns when the record would survive a crash. A client
/// learns the id of a task only after that.
class TaskStore {
 public:
  virtual ~TaskStore() = default;
  virtual Status save(const TaskRecord& record) = 0;
  /// Returns nothing when there is no such task.
  virtual Result<std::optional<TaskRecord>> load(const std::string& id) = 0;
};

class TaskTable;

/// The refusal of a tasks method when the request does not declare the extension.
RpcError missing_tasks_extension();

/// The extension's Task with what its status adds: `result`, `error` or `inputRequests`.
nlohmann::json detailed_task(const TaskView& task, const TaskLimits& limits);
/// The extension's CreateTaskResult, which is a Task without additions.
nlohmann::json created_task(const TaskView& task, const TaskLimits& limits);
/// The Task of 2025-11-25. A tool result with isError is a failed task there.
nlohmann::json legacy_task(const TaskView& task, const TaskLimits& limits);

/// Answers tasks/get of both eras. Only `principal`'s own tasks are found, as in all methods below.
Rpc<nlohmann::json> get_task(TaskTable& tasks, const nlohmann::json& params,
                             const std::string& principal, bool stateless);
/// Answers tasks/cancel: the extension has an empty acknowledgement. 2025-11-25 has the task, and
/// an error when the task was over already.
Rpc<nlohmann::json> cancel_task(TaskTable& tasks, const nlohmann::json& params,
                                const std::string& principal, bool stateless);
/// Answers tasks/update of the extension.
Rpc<nlohmann::json> update_task(TaskTable& tasks, const nlohmann::json& params,
                                const std::string& principal);
/// Answers tasks/result of 2025-11-25: waits for the end of the task, then returns the result of
/// its tool.
Rpc<nlohmann::json> task_result(TaskTable& tasks, const nlohmann::json& params,
                                const std::string& principal, std::stop_token stop);

}  // namespace assay::mcp
