// TaskTable contains the running and finished tasks of this process. It runs the work of each task
// on its own threads, keeps the task's state, passes the client's answers to the work, and cancels
// tasks.
//
//   const Rpc<TaskView> task = tasks.start(owner, std::nullopt, work);
//   const Rpc<TaskView> now = tasks.find(task->record.id, "alice");
//
// If there is a store, start() saves the task before it returns. Only the caller (`principal`) that
// started a task can find it, and only until the task's time to live is over. If an earlier process
// left a task unfinished, the task is reported as failed. Thread-safe.
#pragma once

#include <atomic>
#include <cstddef>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/json.h"
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
  /// The outcome of one step of the work: a result, or the input that the next step needs.
  struct Step {
    nlohmann::json result;
    std::optional<InputRequired> input_required = {};
  };
  using Work = std::function<Rpc<Step>(RequestContext& context)>;
  struct Owner {
    std::shared_ptr<const Caller> caller = nullptr;
    nlohmann::json capabilities = nlohmann::json::object();  // the client's capabilities
    /// The answers that the client gave before the task began.
    nlohmann::json inputs = nlohmann::json::object();
    std::string state = {};
    std::string traceparent = {};  // the span of the call that made the task
  };

  /// `store` may be null. Every change of a task's status is saved, and published to `notifier`.
  TaskTable(const TaskLimits& limits, TaskStore* store, const ChangeNotifier& notifier,
            const Clock& clock);
  ~TaskTable();

  Rpc<TaskView> start(const Owner& owner, std::optional<std::int64_t> ttl_ms, Work work);
  Rpc<TaskView> find(const std::string& id, const std::string& principal);
  /// Passes the client's answers to the task. Ignores answers with an unknown key. The task's work
  /// continues when the last missing answer has arrived.
  Rpc<void> update(const std::string& id, const std::string& principal,
                   const nlohmann::json& answers);
  /// Cancels a task. Its status immediately becomes cancelled and does not change any more, and its
  /// work receives a stop request. A task that has already ended stays unchanged.
  Rpc<TaskView> cancel(const std::string& id, const std::string& principal);
  /// Waits until the task has ended or `stop` is requested.
  Rpc<TaskView> wait(const std::string& id, const std::string& principal, std::stop_token stop);
  /// Forgets the tasks whose time is over, and stops their work.
  void forget_expired();
  /// Returns the number of tasks in memory.
  std::size_t size() const {
    const MutexLock lock(mutex_);
    return tasks_.size();
  }
  /// Shuts the table down: requests all running tasks to stop. They get the status failed.
  void end();
  const TaskLimits& limits() const { return limits_; }

 private:
  struct Task;
  bool expired(const TaskRecord& record) const;
  std::shared_ptr<Task> live(const std::string& id, const std::string& principal);
  Rpc<std::shared_ptr<Task>> admit(const Owner& owner, std::int64_t ttl_ms, Work work);
  using Tasks = std::map<std::string, std::shared_ptr<Task>>;
  /// What the table counts for one principal. An entry with only zeros is removed.
  struct Share {
    std::size_t tasks = 0;                      // in tasks_
    std::size_t running = 0;                    // on a thread
    std::deque<std::shared_ptr<Task>> waiting;  // for a thread
  };
  /// Returns an error if there is no room for a new task of the principal.
  Rpc<void> check_room(const std::string& principal) const ASSAY_REQUIRES(mutex_);
  /// Removes the expired tasks from the table and returns them. If there is still no room for a new
  /// task of the principal, also removes a finished task (TaskLimits::max_tasks). The caller must
  /// stop the work of the returned tasks after it has released the mutex.
  std::vector<std::shared_ptr<Task>> purge(const std::string& principal) ASSAY_REQUIRES(mutex_);
  std::vector<std::shared_ptr<Task>> remove_expired() ASSAY_REQUIRES(mutex_);
  void erase(Tasks::iterator task) ASSAY_REQUIRES(mutex_);

  /// Removes the principal's entry if it has only zeros.
  void forget_if_unused(std::map<std::string, Share>::iterator share) ASSAY_REQUIRES(mutex_);

  /// Makes a task wait for a thread. Returns false if no thread can run it.
  bool enqueue(const std::shared_ptr<Task>& task);
  /// Runs one waiting task. Then also runs the tasks that had to wait because their principal had
  /// too many running tasks.
  void serve();
  /// Returns the next task to run, and counts it as running. The principals take turns. Returns
  /// null if each waiting task belongs to a principal that has too many running tasks.
  std::shared_ptr<Task> next_ready() ASSAY_REQUIRES(mutex_);
  void run(const std::shared_ptr<Task>& task);
  void park(Task& task, const InputRequired& needed);
  /// Saves the task's present state and publishes that the task has changed.
  void announce(Task& task);
  /// Sets the status, then saves and publishes it. Does nothing when the task has already ended.
  void settle(Task& task, TaskStatus status, nlohmann::json outcome, std::string message);
  TaskView view(const Task& task) const ASSAY_REQUIRES(mutex_);

  const TaskLimits limits_;
  TaskStore* const store_;
  const ChangeNotifier& notifier_;
  const Clock& clock_;
  mutable Mutex mutex_;
  Condition changed_;
  Tasks tasks_ ASSAY_GUARDED_BY(mutex_);
  std::map<std::string, Share> shares_ ASSAY_GUARDED_BY(mutex_);
  std::string served_last_ ASSAY_GUARDED_BY(mutex_);  // the principal that had the last turn
  /// Calls of serve() that found only tasks of principals with too many running tasks. A call that
  /// ends such a task makes up for one of them.
  std::size_t postponed_ ASSAY_GUARDED_BY(mutex_) = 0;
  std::atomic<bool> ending_{false};
  WorkerPool pool_;  // the last member: its threads use the members above
};

}  // namespace assay::mcp
