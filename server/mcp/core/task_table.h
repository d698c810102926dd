// TaskTable has the running and finished tasks of this process. It runs the work of a task on its
// own threads, keeps the task's state, passes answers of the client on, and cancels the task.
//
//   const Rpc<TaskView> task = tasks.start(owner, std::nullopt, work);  // stored when it returns
//   const Rpc<TaskView> now = tasks.find(task->record.id, "alice");
//
// Thread-safe. Only the principal that started a task finds it, and only until its time to live is
// over. A task that an earlier process left unfinished is shown as failed.
#pragma once

#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/mutex.h"
#include "base/worker_pool.h"
#include "server/mcp/core/change_notifier.h"
#include "server/mcp/core/input.h"
#include "server/mcp/core/request_context.h"
#include "server/mcp/core/task.h"
#include "server/mcp/protocol/jsonrpc.h"

namespace assay::mcp {

class TaskTable {
 public:
  /// The end of one step of the work: a result, or the input that the next step needs.
  struct Step {
    nlohmann::json result;
    std::optional<InputRequired> input_required = {};
  };
  using Work = std::function<Rpc<Step>(RequestContext& context)>;
  struct Owner {
    std::shared_ptr<const Caller> caller = nullptr;
    nlohmann::json capabilities = nlohmann::json::object();  // of the client
    nlohmann::json inputs = nlohmann::json::object();  // the answers given before the task began
    std::string state = {};
  };

  /// `store` may be null. Every change of a task's status is published to `notifier`.
  TaskTable(const TaskLimits& limits, TaskStore* store, const ChangeNotifier& notifier,
            const Clock& clock);
  ~TaskTable();

  Rpc<TaskView> start(const Owner& owner, std::optional<std::int64_t> ttl_ms, Work work);
  Rpc<TaskView> find(const std::string& id, const std::string& principal);
  /// Passes answers on. Unknown keys are ignored. The work goes on when no answer is missing.
  Rpc<void> update(const std::string& id, const std::string& principal,
                   const nlohmann::json& answers);
  /// Cancels a task. Its status is final at once, and its work gets a request to stop. A finished
  /// task stays as it is.
  Rpc<TaskView> cancel(const std::string& id, const std::string& principal);
  /// Waits until the task is over or `stop` is requested.
  Rpc<TaskView> wait(const std::string& id, const std::string& principal, std::stop_token stop);
  /// For shutdown: requests running tasks to stop, and lets them fail.
  void end();
  const TaskLimits& limits() const { return limits_; }

 private:
  struct Task;
  bool expired(const TaskRecord& record) const;
  std::shared_ptr<Task> live(const std::string& id, const std::string& principal);
  Rpc<std::shared_ptr<Task>> admit(const Owner& owner, std::int64_t ttl_ms, Work work);
  /// Forgets the expired tasks and, when the table is still full, the oldest finished one. Returns
  /// the expired ones: the caller stops their work when it has released the mutex.
  std::vector<std::shared_ptr<Task>> purge() ASSAY_REQUIRES(mutex_);
  void run(const std::shared_ptr<Task>& task);
  void park(Task& task, const InputRequired& needed);
  /// Sets the status, saves and publishes it. Does nothing when the task is over.
  void settle(Task& task, TaskStatus status, nlohmann::json outcome, std::string message);
  TaskView view(const Task& task) const ASSAY_REQUIRES(mutex_);

  const TaskLimits limits_;
  TaskStore* const store_;
  const ChangeNotifier& notifier_;
  const Clock& clock_;
  Mutex mutex_;
  Condition changed_;
  std::map<std::string, std::shared_ptr<Task>> tasks_ ASSAY_GUARDED_BY(mutex_);
  std::atomic<bool> ending_{false};
  WorkerPool pool_;  // last: its threads use the members above
};

}  // namespace assay::mcp
