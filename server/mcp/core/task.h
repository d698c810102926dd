// Tasks: tool calls that outlive the request that started them. A client gets an id at once, and
// asks for the outcome until it is there.
//
//   mcp::Server server(info, limits, {.task_store = &store});  // without a store, tasks are kept
//   in
//                                                              // memory only
//
// Plain data. A TaskStore must be thread-safe.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"

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

}  // namespace assay::mcp
