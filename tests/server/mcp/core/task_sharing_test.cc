// Tests that the places and the threads of TaskTable are shared between principals.
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "server/mcp/core/task_table.h"
#include "tests/server/mcp/core/task_work.h"

namespace assay::mcp {

using namespace test;

namespace {

TaskTable::Owner owned_by(const std::string& name) {
  return {.caller = std::make_shared<const Caller>(Caller{name, {}})};
}

}  // namespace

TEST_CASE("tasks: one principal cannot take all places, nor the places of finished tasks") {
  ChangeNotifier notifier;
  TaskTable tasks({.max_tasks = 4, .principal_tasks = 2, .threads = 4, .principal_threads = 4},
                  nullptr, notifier, system_clock());
  const auto of_bob = tasks.start(owned_by("bob"), std::nullopt, answer_with(1));
  tasks.wait(of_bob->record.id, "bob", {});
  for (int i = 0; i < 2; ++i)
    REQUIRE(tasks.start(owned_by("alice"), std::nullopt, until_cancelled));
  const auto refused = tasks.start(owned_by("alice"), std::nullopt, answer_with(1));
  REQUIRE_FALSE(refused);
  CHECK(refused.error().message.find("the limit is 2 for each token") != std::string::npos);
  CHECK(tasks.find(of_bob->record.id, "bob"));
  const auto second = tasks.start(owned_by("bob"), std::nullopt, answer_with(2));
  REQUIRE(second);
  tasks.wait(second->record.id, "bob", {});
  REQUIRE(tasks.start(owned_by("bob"), std::nullopt, answer_with(3)));  // replaces a task of bob
  const bool first_is_left = tasks.find(of_bob->record.id, "bob").has_value();
  const bool second_is_left = tasks.find(second->record.id, "bob").has_value();
  CHECK(first_is_left != second_is_left);
  CHECK(tasks.start(owned_by("carol"), std::nullopt, answer_with(4)));
}

TEST_CASE("tasks: a principal with many tasks leaves threads to others, and none is forgotten") {
  ChangeNotifier notifier;
  TaskTable tasks({.max_tasks = 20, .principal_tasks = 10, .threads = 2, .principal_threads = 1},
                  nullptr, notifier, system_clock());
  StubbornWork first;
  std::vector<std::string> of_alice;
  of_alice.push_back(tasks.start(owned_by("alice"), std::nullopt, first.work())->record.id);
  REQUIRE(first.running.becomes(1));
  for (int i = 0; i < 5; ++i)
    of_alice.push_back(tasks.start(owned_by("alice"), std::nullopt, answer_with(i))->record.id);
  for (int i = 0; i < 5; ++i) {
    const auto task = tasks.start(owned_by("bob"), std::nullopt, answer_with(i));
    REQUIRE(task);
    CHECK(tasks.wait(task->record.id, "bob", {})->record.status == TaskStatus::completed);
  }
  for (std::size_t i = 1; i < of_alice.size(); ++i)  // they wait for the first one
    CHECK(status_of(tasks, of_alice[i], "alice") == TaskStatus::working);
  first.may_end.count_down();
  tasks.cancel(of_alice[0], "alice");
  for (std::size_t i = 1; i < of_alice.size(); ++i)
    CHECK(tasks.wait(of_alice[i], "alice", {})->record.status == TaskStatus::completed);
}

TEST_CASE("tasks: the principals with waiting tasks take turns") {
  ChangeNotifier notifier;
  TaskTable tasks({.max_tasks = 40, .principal_tasks = 20, .threads = 1, .principal_threads = 1},
                  nullptr, notifier, system_clock());
  StubbornWork first;
  const auto running = tasks.start(owned_by("alice"), std::nullopt, first.work());
  REQUIRE(first.running.becomes(1));
  std::mutex mutex;
  std::string order;
  const auto noting = [&](char letter) -> TaskTable::Work {
    return [&, letter](RequestContext&) -> Rpc<TaskTable::Step> {
      const std::lock_guard lock(mutex);
      order += letter;
      return TaskTable::Step{json(1)};
    };
  };
  std::vector<std::pair<std::string, std::string>> waiting;
  for (const char* name : {"alice", "bob"}) {
    for (int i = 0; i < 3; ++i)
      waiting.emplace_back(tasks.start(owned_by(name), std::nullopt, noting(name[0]))->record.id,
                           name);
  }
  first.may_end.count_down();
  tasks.cancel(running->record.id, "alice");
  for (const auto& [id, name] : waiting) tasks.wait(id, name, {});
  CHECK(order == "bababa");
}

}  // namespace assay::mcp
