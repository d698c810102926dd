// The running and finished tasks of this process: starts work on threads of its own, keeps its
// state, hands over answers, cancels it.
//
//   Rpc<TaskView> task = tasks.start(owner, ttl_ms, work);      // durable when it returns
//   tasks.find(task->record.id, principal)                       // until created + ttl
//
// Thread-safe. A task is found only by the principal that started it. A task that an earlier
// process left unfinished is shown as failed.
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
  /// One step of the work: a result, or what must be known to go on.
  struct Step {
    nlohmann::json result;
    std::optional<InputRequired> input_required = {};
  };
  using Work = std::function<Rpc<Step>(RequestContext& context)>;
  struct Owner {
    std::shared_ptr<const Caller> caller = nullptr;
    nlohmann::json capabilities = nlohmann::json::object();  // what the client may be asked for
    nlohmann::json inputs = nlohmann::json::object();  // answers that it gave before the task began
    std::string state = {};
  };

  /// `store` may be null. `hub` hears of every change of a task's status.
  TaskTable(const TaskLimits& limits, TaskStore* store, const ChangeNotifier& hub,
            const Clock& clock);
  ~TaskTable();

  Rpc<TaskView> start(const Owner& owner, std::optional<std::int64_t> ttl_ms, Work work);
  Rpc<TaskView> find(const std::string& id, const std::string& principal);
  /// Hands over answers; keys that nobody asked for are ignored. The work goes on when the last one
  /// is there.
  Rpc<void> update(const std::string& id, const std::string& principal,
                   const nlohmann::json& answers);
  /// Final at once, whatever the work does; the work sees cancelled(). A finished task stays as it
  /// is.
  Rpc<TaskView> cancel(const std::string& id, const std::string& principal);
  /// Waits until the task is over or `stop` is requested.
  Rpc<TaskView> wait(const std::string& id, const std::string& principal, std::stop_token stop);
  /// At shutdown: running tasks are told to stop, and fail.
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
  /// Sets the status (unless the task is over), saves and publishes it.
  void settle(Task& task, TaskStatus status, nlohmann::json outcome, std::string message);
  TaskView view(const Task& task) const ASSAY_REQUIRES(mutex_);

  const TaskLimits limits_;
  TaskStore* const store_;
  const ChangeNotifier& hub_;
  const Clock& clock_;
  Mutex mutex_;
  Condition changed_;
  std::map<std::string, std::shared_ptr<Task>> tasks_ ASSAY_GUARDED_BY(mutex_);
  std::atomic<bool> ending_{false};
  WorkerPool pool_;  // last: its threads use the above
};

}  // namespace assay::mcp
