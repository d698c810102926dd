#include "server/mcp/core/task_table.h"

#include <set>
#include <vector>

#include "base/handle.h"
#include "base/log.h"

namespace assay::mcp {
namespace {

using nlohmann::json;

constexpr const char* kPrefix = "task";

tl::unexpected<RpcError> unknown(const std::string& id) {
  return refuse_rpc(kInvalidParams,
                    "Task not found: '" + id + "' (unknown, or forgotten after its time to live)");
}

}  // namespace

/// The table's mutex guards all members except `stop` and `work`. Only the thread that runs the
/// task uses `work`.
struct TaskTable::Task {
  TaskRecord record;
  std::shared_ptr<const Caller> caller;
  Work work;
  json capabilities;
  std::string traceparent;
  json inputs = json::object();  // answers for the next step, by the handler's key
  std::string state;
  std::map<std::string, InputRequest> open;        // the open questions, by the client's key
  std::map<std::string, std::string> handler_key;  // the handler's keys, by the client's key
  std::set<std::string> used;                      // all keys of the client so far; none is reused
  std::stop_source stop;
  Mutex saving;  // locked while the record is read and saved, so that the newest one is saved last
};

TaskTable::TaskTable(const TaskLimits& limits, TaskStore* store, const ChangeNotifier& notifier,
                     const Clock& clock)
    : limits_(limits),
      store_(store),
      notifier_(notifier),
      clock_(clock),
      pool_(limits.threads, limits.max_tasks) {}

TaskTable::~TaskTable() { end(); }

bool TaskTable::expired(const TaskRecord& record) const {
  return record.created_unix_ms + record.ttl_ms <= clock_.unix_ms();
}

TaskView TaskTable::view(const Task& task) const { return {task.record, task.open}; }

void TaskTable::erase(Tasks::iterator task) {
  const auto share = shares_.find(task->second->record.principal);
  --share->second.tasks;
  forget_if_unused(share);
  tasks_.erase(task);
}

void TaskTable::forget_if_unused(std::map<std::string, Share>::iterator share) {
  if (share->second.tasks == 0 && share->second.running == 0 && share->second.waiting.empty())
    shares_.erase(share);
}

Rpc<void> TaskTable::check_room(const std::string& principal) const {
  const auto share = shares_.find(principal);
  const bool own_is_full = !principal.empty() && share != shares_.end() &&
                           share->second.tasks >= limits_.principal_tasks;
  if (!own_is_full && tasks_.size() < limits_.max_tasks) return {};
  return refuse_rpc(kInternalError,
                    "too many tasks: the limit is " +
                        (own_is_full ? std::to_string(limits_.principal_tasks) + " for each token"
                                     : std::to_string(limits_.max_tasks)) +
                        "; cancel some, or retry when some have ended");
}

void TaskTable::forget_expired() {
  std::vector<std::shared_ptr<Task>> expired_tasks;
  {
    const MutexLock lock(mutex_);
    expired_tasks = remove_expired();
  }
  for (const auto& forgotten : expired_tasks) forgotten->stop.request_stop();
}

std::vector<std::shared_ptr<TaskTable::Task>> TaskTable::remove_expired() {
  std::vector<std::shared_ptr<Task>> expired_tasks;
  for (auto it = tasks_.begin(); it != tasks_.end();) {
    const auto now = it++;
    if (!expired(now->second->record)) continue;
    expired_tasks.push_back(now->second);
    erase(now);
  }
  return expired_tasks;
}

std::vector<std::shared_ptr<TaskTable::Task>> TaskTable::purge(const std::string& principal) {
  std::vector<std::shared_ptr<Task>> expired_tasks = remove_expired();
  std::shared_ptr<Task> oldest, oldest_own;  // of the finished tasks
  const auto keep_older = [](std::shared_ptr<Task>& known, const std::shared_ptr<Task>& task) {
    if (!known || task->record.updated_unix_ms < known->record.updated_unix_ms) known = task;
  };
  for (const auto& [id, task] : tasks_) {
    if (!is_terminal(task->record.status)) continue;
    keep_older(oldest, task);
    if (task->record.principal == principal) keep_older(oldest_own, task);
  }
  if (!check_room(principal) && oldest_own)
    erase(tasks_.find(oldest_own->record.id));
  else if (tasks_.size() >= limits_.max_tasks && oldest)
    erase(tasks_.find(oldest->record.id));
  return expired_tasks;
}

Rpc<std::shared_ptr<TaskTable::Task>> TaskTable::admit(const Owner& owner, std::int64_t ttl_ms,
                                                       Work work) {
  auto task = std::make_shared<Task>();
  task->record.id = new_handle(kPrefix);
  task->record.principal = name_of(owner.caller);
  task->caller = owner.caller;
  task->record.created_unix_ms = task->record.updated_unix_ms = clock_.unix_ms();
  task->record.ttl_ms = ttl_ms;
  task->work = std::move(work);
  task->capabilities = owner.capabilities;
  task->traceparent = owner.traceparent;
  task->inputs = owner.inputs;
  task->state = owner.state;
  std::vector<std::shared_ptr<Task>> expired_tasks;
  Rpc<void> room;
  {
    const MutexLock lock(mutex_);
    expired_tasks = purge(task->record.principal);
    room = check_room(task->record.principal);
    if (room) {
      tasks_[task->record.id] = task;
      ++shares_[task->record.principal].tasks;
    }
  }
  for (const auto& forgotten : expired_tasks) forgotten->stop.request_stop();
  if (!room) return tl::unexpected<RpcError>(room.error());
  return task;
}

Rpc<TaskView> TaskTable::start(const Owner& owner, std::optional<std::int64_t> ttl_ms, Work work) {
  auto task = admit(
      owner,
      std::clamp<std::int64_t>(ttl_ms.value_or(limits_.default_ttl_ms), 1, limits_.max_ttl_ms),
      std::move(work));
  if (!task) return tl::unexpected<RpcError>(task.error());
  const TaskView first = [&] {
    const MutexLock lock(mutex_);
    return view(**task);
  }();
  const Status saved = store_ == nullptr ? Status() : store_->save(first.record);
  if (saved && enqueue(*task)) return first;
  const MutexLock lock(mutex_);
  // Another thread may have removed the task already, because a new task needed its place.
  if (const auto refused = tasks_.find(first.record.id); refused != tasks_.end()) erase(refused);
  return refuse_rpc(kInternalError, saved ? "too many tasks are waiting; retry when some have ended"
                                          : "the task cannot be saved: " + saved.error().message);
}

bool TaskTable::enqueue(const std::shared_ptr<Task>& task) {
  const std::string& principal = task->record.principal;  // does not change
  {
    const MutexLock lock(mutex_);
    shares_[principal].waiting.push_back(task);
  }
  if (pool_.submit([this] { serve(); })) return true;
  const MutexLock lock(mutex_);
  const auto share = shares_.find(principal);
  const auto waiting =
      share == shares_.end()
          ? std::size_t{0}
          : std::erase(share->second.waiting, task);  // 0: another call of serve() took the task
  if (waiting == 0) return true;
  forget_if_unused(share);
  return false;
}

std::shared_ptr<TaskTable::Task> TaskTable::next_ready() {
  // The search begins after the principal that had the last turn, and ends with this principal.
  auto share = shares_.upper_bound(served_last_);
  for (std::size_t looked = 0; looked < shares_.size(); ++looked, ++share) {
    if (share == shares_.end()) share = shares_.begin();
    const bool may_run = share->first.empty() || share->second.running < limits_.principal_threads;
    if (share->second.waiting.empty() || !may_run) continue;
    std::shared_ptr<Task> task = std::move(share->second.waiting.front());
    share->second.waiting.pop_front();
    ++share->second.running;
    served_last_ = share->first;
    return task;
  }
  return nullptr;
}

void TaskTable::serve() {
  MutexLock lock(mutex_);
  while (true) {
    const std::shared_ptr<Task> task = next_ready();
    if (!task) {
      ++postponed_;
      return;
    }
    lock.unlock();
    run(task);
    lock.lock();
    const auto share = shares_.find(task->record.principal);
    --share->second.running;
    forget_if_unused(share);
    if (postponed_ == 0) return;
    --postponed_;
  }
}

void TaskTable::run(const std::shared_ptr<Task>& task) {
  RequestContext context;
  {
    const MutexLock lock(mutex_);
    if (is_terminal(task->record.status)) return;
    context.inputs = std::move(task->inputs);
    context.state = task->state;
    context.client_capabilities = task->capabilities;
    context.caller = task->caller;
    context.traceparent = task->traceparent;
  }
  context.is_task = true;
  context.server_ends = [this] { return ending_.load(); };
  context.stop = task->stop.get_token();
  context.progress = [this, &task](double, double, const std::string& text) {
    const MutexLock lock(mutex_);
    if (is_terminal(task->record.status)) return;
    task->record.message = text;
    task->record.updated_unix_ms = clock_.unix_ms();
  };
  Rpc<Step> step = ending_
                       ? refuse_rpc(kInternalError, "the server was stopped before the task ran")
                       : task->work(context);
  // The outcome of work that noticed the stop is kept, because it may name the handle of durable
  // work. But a task that needs more input cannot get it from this server any more.
  if (ending_ && step && step->input_required)
    step = refuse_rpc(kInternalError, "the server was stopped while the task ran");
  if (!step)
    return settle(*task, TaskStatus::failed,
                  {{"code", step.error().code}, {"message", step.error().message}},
                  step.error().message);
  if (!step->input_required)
    return settle(*task, TaskStatus::completed, std::move(step->result), "");
  if (const auto missing =
          missing_capability(step->input_required->requests, context.client_capabilities)) {
    return settle(*task, TaskStatus::failed,
                  {{"code", missing->code}, {"message", missing->message}, {"data", missing->data}},
                  missing->message);
  }
  park(*task, *step->input_required);
}

void TaskTable::park(Task& task, const InputRequired& needed) {
  {
    const MutexLock lock(mutex_);
    task.inputs = json::object();
    task.state = needed.state;
    task.open.clear();
    task.handler_key.clear();
    for (const auto& [key, request] : needed.requests) {
      std::string shown = key;
      for (int again = 2; !task.used.insert(shown).second; ++again)
        shown = key + "-" + std::to_string(again);
      task.open[shown] = request;
      task.handler_key[shown] = key;
    }
  }
  settle(task, TaskStatus::input_required, nullptr, "waiting for the client's input");
}

void TaskTable::settle(Task& task, TaskStatus status, json outcome, std::string message) {
  {
    const MutexLock lock(mutex_);
    if (is_terminal(task.record.status)) return;
    task.record.status = status;
    task.record.outcome = std::move(outcome);
    task.record.message = std::move(message);
    task.record.updated_unix_ms = clock_.unix_ms();
    if (is_terminal(status)) task.open.clear();
  }
  changed_.notify_all();
  announce(task);
}

void TaskTable::announce(Task& task) {
  if (store_ != nullptr) {
    const MutexLock saving(task.saving);
    TaskRecord now;
    {
      const MutexLock lock(mutex_);
      now = task.record;
    }
    if (const Status saved = store_->save(now); !saved)
      log::error("a task cannot be saved", {{"task", now.id}, {"error", saved.error().message}});
  }
  notifier_.publish({Change::Kind::task, task.record.id});
}

std::shared_ptr<TaskTable::Task> TaskTable::live(const std::string& id,
                                                 const std::string& principal) {
  const MutexLock lock(mutex_);
  const auto found = tasks_.find(id);
  if (found == tasks_.end() || found->second->record.principal != principal ||
      expired(found->second->record))
    return nullptr;
  return found->second;
}

Rpc<TaskView> TaskTable::find(const std::string& id, const std::string& principal) {
  if (const auto task = live(id, principal)) {
    const MutexLock lock(mutex_);
    return view(*task);
  }
  if (store_ == nullptr || !is_handle(id, kPrefix)) return unknown(id);
  auto stored = store_->load(id);
  if (!stored)
    return refuse_rpc(kInternalError, "the task cannot be read: " + stored.error().message);
  if (!*stored || (*stored)->principal != principal || expired(**stored)) return unknown(id);
  TaskRecord record = std::move(**stored);
  if (!is_terminal(record.status)) {
    record.status = TaskStatus::failed;
    record.message =
        "the server was restarted while the task ran; its durable work, if any, goes on under its "
        "own handle";
    record.outcome = {{"code", kInternalError}, {"message", record.message}};
  }
  return TaskView{std::move(record), {}};
}

Rpc<void> TaskTable::update(const std::string& id, const std::string& principal,
                            const json& answers) {
  const auto task = live(id, principal);
  if (!task)
    // If the task is not in memory, an earlier process ran it. Such a task waits for no answers, so
    // the answers are ignored.
    return find(id, principal).map([](const TaskView&) {});
  bool goes_on = false;
  {
    const MutexLock lock(mutex_);
    if (task->record.status != TaskStatus::input_required) return {};
    for (const auto& [key, answer] : answers.items()) {
      if (task->open.erase(key) > 0) task->inputs[task->handler_key[key]] = answer;
    }
    goes_on = task->open.empty();
    if (goes_on) {
      task->record.status = TaskStatus::working;
      task->record.message.clear();
    }
    task->record.updated_unix_ms = clock_.unix_ms();
  }
  if (!goes_on) return {};
  announce(*task);
  if (!enqueue(task)) {
    settle(*task, TaskStatus::failed,
           {{"code", kInternalError}, {"message", "too many tasks are waiting"}},
           "too many tasks are waiting");
  }
  return {};
}

Rpc<TaskView> TaskTable::cancel(const std::string& id, const std::string& principal) {
  if (const auto task = live(id, principal)) {
    task->stop.request_stop();
    settle(*task, TaskStatus::cancelled, nullptr, "cancelled by the client");
  }
  return find(id, principal);
}

Rpc<TaskView> TaskTable::wait(const std::string& id, const std::string& principal,
                              std::stop_token stop) {
  const auto task = live(id, principal);
  if (!task) return find(id, principal);
  MutexLock lock(mutex_);
  changed_.wait(lock, std::move(stop), [&task] { return is_terminal(task->record.status); });
  return view(*task);
}

void TaskTable::end() {
  ending_ = true;
  std::vector<std::shared_ptr<Task>> tasks;
  {
    const MutexLock lock(mutex_);
    for (const auto& [id, task] : tasks_) tasks.push_back(task);
  }
  // The mutex is not locked here, because request_stop() runs callbacks of the tasks' work, which
  // may use this table.
  for (const auto& task : tasks) task->stop.request_stop();
}

}  // namespace assay::mcp
