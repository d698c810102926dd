// Tests what the server's end means for running tasks.
#include <map>
#include <mutex>

#include "server/mcp/core/task_table.h"
#include "tests/server/mcp/fixture.h"

namespace assay::mcp {
namespace {

using namespace test;

/// Keeps records in memory, like a database.
class RecordStore final : public TaskStore {
 public:
  Status save(const TaskRecord& record) override {
    const std::lock_guard lock(mutex_);
    records_[record.id] = record;
    return {};
  }
  Result<std::optional<TaskRecord>> load(const std::string& id) override {
    const std::lock_guard lock(mutex_);
    const auto found = records_.find(id);
    return found == records_.end() ? std::nullopt : std::optional(found->second);
  }

 private:
  std::mutex mutex_;
  std::map<std::string, TaskRecord> records_;
};

}  // namespace

TEST_CASE("tasks: work knows that the server ends, and its outcome is kept") {
  ChangeNotifier notifier;
  RecordStore store;
  std::string id;
  {
    Counter running;
    TaskTable tasks({}, &store, notifier, system_clock());
    const auto task = tasks.start({}, std::nullopt, [&](RequestContext& context) {
      running.add(1);
      system_clock().pause(kEventTimeout, context.stop);
      return Rpc<TaskTable::Step>(TaskTable::Step{{{"server_ends", context.server_ends()}}});
    });
    REQUIRE(task);
    id = task->record.id;
    REQUIRE(running.becomes(1));
    tasks.end();
    CHECK(tasks.wait(id, "", {})->record.outcome == json{{"server_ends", true}});
  }
  const auto stored = store.load(id);
  REQUIRE(stored);
  REQUIRE(*stored);
  CHECK((*stored)->status == TaskStatus::completed);
}

TEST_CASE("tasks: a task that the client cancels does not see the server's end") {
  Counter running, saw_end, ended;  // they outlive the table, whose threads use them
  ChangeNotifier notifier;
  TaskTable tasks({}, nullptr, notifier, system_clock());
  const auto task =
      tasks.start({}, std::nullopt, [&](RequestContext& context) -> Rpc<TaskTable::Step> {
        running.add(1);
        system_clock().pause(kEventTimeout, context.stop);
        saw_end.add(context.server_ends() ? 1 : 0);
        ended.add(1);
        return TaskTable::Step{};
      });
  REQUIRE(task);
  REQUIRE(running.becomes(1));
  tasks.cancel(task->record.id, "");
  REQUIRE(ended.becomes(1));
  CHECK(saw_end == 0);
}

}  // namespace assay::mcp
