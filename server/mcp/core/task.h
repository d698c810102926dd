// Defines tasks: tool calls that outlive the request that started them. The client immediately
// receives the id of the task and uses it to ask for the outcome. This header defines the record of
// a task, the store that keeps records, the JSON that clients see, and the functions that answer
// the methods tasks/*. The class in task_table.h runs the tasks.
//
//   const TaskRecord record{.id = "task_1", .status = TaskStatus::working};
//   const Status saved = store.save(record);  // ServerParts::task_store names the store
//
// Two protocols define tasks: an extension of revision 2026-07-28, called "the extension" below,
// and revision 2025-11-25 itself. The functions are thread-safe, and a TaskStore must be
// thread-safe.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>

#include "base/json.h"
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
  std::string id;         // unguessable; needed to ask for the outcome
  std::string principal;  // the caller that started the task; empty when the server has no tokens
  TaskStatus status = TaskStatus::working;
  std::string message;  // a text for people; may be empty
  std::int64_t created_unix_ms = 0, updated_unix_ms = 0;
  std::int64_t ttl_ms = 0;  // the time from the creation until the task may be deleted
  /// The outcome. If the status is completed, the outcome is the CallToolResult. If the status is
  /// failed, it is the JSON-RPC error: {code, message}, sometimes with `data`. Otherwise it is
  /// null.
  nlohmann::json outcome;
};

/// A task, and the questions to the client whose answers the task waits for. Only the process that
/// runs the task has the questions; the store does not keep them.
struct TaskView {
  TaskRecord record;
  std::map<std::string, InputRequest> input_requests;
};

/// Limits on tasks. docs/reference/limits.md describes them.
struct TaskLimits {
  /// The tasks that the server remembers, of all principals and of one principal. At a limit, a new
  /// task replaces the oldest finished task of the same principal. If there is none and the total
  /// is reached, it replaces the oldest finished task of any principal. Without tokens, all clients
  /// are one principal, and only the first number applies.
  std::size_t max_tasks = 1'024, principal_tasks = 256;
  /// The tasks that run simultaneously, of all principals and of one principal. The other tasks
  /// wait. The principals with waiting tasks take turns.
  std::size_t threads = 64, principal_threads = 48;
  std::int64_t default_ttl_ms = 3'600'000;  // used if the client gives no time to live
  std::int64_t max_ttl_ms = 86'400'000;
  std::int64_t poll_interval_ms = 1'000;  // the pause between polls that clients are told to keep
};

/// Stores task records so that they outlive the process. save() returns only after the record is
/// safe from a crash. A client learns the id of a task only after save() has returned.
class TaskStore {
 public:
  virtual ~TaskStore() = default;
  virtual Status save(const TaskRecord& record) = 0;
  /// Returns the record of a task, or nothing when there is no task with this id.
  virtual Result<std::optional<TaskRecord>> load(const std::string& id) = 0;
};

class TaskTable;

/// Returns the error for a request that calls a method tasks/*, but does not declare the extension.
RpcError missing_tasks_extension();

/// Returns the extension's Task, with the member that belongs to its status: `result`, `error` or
/// `inputRequests`.
nlohmann::json detailed_task(const TaskView& task, const TaskLimits& limits);
/// Returns the extension's CreateTaskResult, which has none of the members `result`, `error` and
/// `inputRequests`.
nlohmann::json created_task(const TaskView& task, const TaskLimits& limits);
/// Returns the Task of 2025-11-25. In that revision, a tool result with isError means that the task
/// failed.
nlohmann::json legacy_task(const TaskView& task, const TaskLimits& limits);

/// Answers tasks/get of both protocol eras. `principal` is the caller's name. This function and all
/// functions below find only the tasks that this caller started.
Rpc<nlohmann::json> get_task(TaskTable& tasks, const nlohmann::json& params,
                             const std::string& principal, bool stateless);
/// Answers tasks/cancel. In the extension, the answer is an empty acknowledgement. In 2025-11-25,
/// the answer is the task, or an error if the task has already ended.
Rpc<nlohmann::json> cancel_task(TaskTable& tasks, const nlohmann::json& params,
                                const std::string& principal, bool stateless);
/// Answers tasks/update of the extension.
Rpc<nlohmann::json> update_task(TaskTable& tasks, const nlohmann::json& params,
                                const std::string& principal);
/// Answers tasks/result of 2025-11-25: waits until the task has ended, then returns the result of
/// its tool. Returns an error if the task has no result, or if `stop` is requested first.
Rpc<nlohmann::json> task_result(TaskTable& tasks, const nlohmann::json& params,
                                const std::string& principal, std::stop_token stop);

}  // namespace assay::mcp
