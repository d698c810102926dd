#include "server/mcp/core/task_table.h"

#include <algorithm>
#include <array>
#include <set>
#include <vector>

#include "base/handle.h"
#include "base/log.h"

namespace assay::mcp {
namespace {

using nlohmann::json;

constexpr const char* kPrefix = "task";
constexpr std::array<std::string_view, 5> kStatusNames = {"working", "input_required", "completed",
                                                          "failed", "cancelled"};

tl::unexpected<RpcError> unknown(const std::string& id) {
  return refuse_rpc(kInvalidParams,
                    "Task not found: '" + id + "' (unknown, or forgotten after its time to live)");
}

}  // namespace

std::string_view to_string(TaskStatus status) {
  return kStatusNames[static_cast<std::size_t>(status)];
}

std::optional<TaskStatus> task_status_from(std::string_view text) {
  const auto found = std::find(kStatusNames.begin(), kStatusNames.end(), text);
  if (found == kStatusNames.end()) return std::nullopt;
  return static_cast<TaskStatus>(found - kStatusNames.begin());
}

/// The table's mutex guards all members except `stop` and `work`. Only the thread that runs the
/// task uses `work`.
struct TaskTable::Task {
  TaskRecord record;
  std::shared_ptr<const Caller> caller;
  Work work;
  json capabilities;
  json inputs = json::object();  // answers for the next step, by the handler's key
  std::string state;
  std::map<std::string, InputRequest> open;        // the open questions, by the client's key
  std::map<std::string, std::string> handler_key;  // the handler's keys, by the client's key
  std::set<std::string> used;                      // all keys of the client so far; none is reused
  std::stop_source stop;
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

std::vector<std::shared_ptr<TaskTable::Task>> TaskTable::purge() {
  std::vector<std::shared_ptr<Task>> expired_tasks;
  std::shared_ptr<Task> oldest;
  for (auto it = tasks_.begin(); it != tasks_.end();) {
    Task& task = *it->second;
    if (!expired(task.record)) {
      if (is_terminal(task.record.status) &&
          (!oldest || task.record.updated_unix_ms < oldest->record.updated_unix_ms))
        oldest = it->second;
      ++it;
      continue;
    }
    expired_tasks.push_back(it->second);
    it = tasks_.erase(it);
  }
  if (tasks_.size() >= limits_.max_tasks && oldest) tasks_.erase(oldest->record.id);
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
  task->inputs = owner.inputs;
  task->state = owner.state;
  std::vector<std::shared_ptr<Task>> expired_tasks;
  {
    const MutexLock lock(mutex_);
    expired_tasks = purge();
    if (tasks_.size() < limits_.max_tasks)
      tasks_[task->record.id] = task;
    else
      task = nullptr;
  }
  for (const auto& forgotten : expired_tasks) forgotten->stop.request_stop();
  if (task) return task;
  return refuse_rpc(kInternalError, "too many tasks: the limit is " +
                                        std::to_string(limits_.max_tasks) +
                                        "; cancel some, or retry when some have ended");
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
  if (saved && pool_.submit([this, shared = *task] { run(shared); })) return first;
  const MutexLock lock(mutex_);
  tasks_.erase(first.record.id);
  return refuse_rpc(kInternalError, saved ? "too many tasks are waiting; retry when some have ended"
                                          : "the task cannot be saved: " + saved.error().message);
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
  TaskView now;
  {
    const MutexLock lock(mutex_);
    if (is_terminal(task.record.status)) return;
    task.record.status = status;
    task.record.outcome = std::move(outcome);
    task.record.message = std::move(message);
    task.record.updated_unix_ms = clock_.unix_ms();
    if (is_terminal(status)) task.open.clear();
    now = view(task);
  }
  changed_.notify_all();
  if (store_ != nullptr) {
    if (const Status saved = store_->save(now.record); !saved)
      log::error("a task cannot be saved",
                 {{"task", now.record.id}, {"error", saved.error().message}});
  }
  notifier_.publish({Change::Kind::task, now.record.id});
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
  if (goes_on && !pool_.submit([this, task] { run(task); })) {
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
