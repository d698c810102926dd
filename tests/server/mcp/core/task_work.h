// Defines the work of tasks for tests of TaskTable: work that ends at once, and work that waits.
//
//   StubbornWork first;
//   tasks.start({}, std::nullopt, first.work());
//   first.running.becomes(1);  // a thread runs the task
//   first.may_end.count_down();
#pragma once

#include <latch>
#include <string>

#include "server/mcp/core/task_table.h"
#include "tests/server/mcp/fixture.h"

namespace assay::mcp::test {

inline TaskTable::Work answer_with(json result) {
  return [=](RequestContext&) -> Rpc<TaskTable::Step> { return TaskTable::Step{result}; };
}

/// Work that waits until it is cancelled, and then until the test lets it end.
struct StubbornWork {
  Counter running, noticed;
  std::latch may_end{1};

  TaskTable::Work work() {
    return [this](RequestContext& context) -> Rpc<TaskTable::Step> {
      running.add(1);
      system_clock().pause(kEventTimeout, context.stop);
      noticed.add(1);
      may_end.wait();
      return TaskTable::Step{{{"late", true}}};
    };
  }
};

/// Work that ends when it is cancelled.
inline Rpc<TaskTable::Step> until_cancelled(RequestContext& context) {
  system_clock().pause(kEventTimeout, context.stop);
  return TaskTable::Step{{{"late", true}}};
}

inline TaskStatus status_of(TaskTable& tasks, const std::string& id,
                            const std::string& principal = "") {
  const auto task = tasks.find(id, principal);
  REQUIRE(task);
  return task->record.status;
}

}  // namespace assay::mcp::test
