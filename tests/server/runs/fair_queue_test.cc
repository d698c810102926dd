#include "server/runs/fair_queue.h"

#include <vector>

#include "tests/catch.h"

namespace assay::server {

TEST_CASE("runs take turns, and within a run the first comes first") {
  FairQueue queue;
  for (const char* job : {"a1", "a2", "a3", "a4"}) queue.push("a", job);
  queue.push("b", "b1");
  queue.push("c", "c1");
  queue.push("b", "b2");
  std::vector<std::string> order;
  while (auto job = queue.pop()) order.push_back(*job);
  CHECK(order == std::vector<std::string>{"a1", "b1", "c1", "a2", "b2", "a3", "a4"});
  CHECK(queue.size() == 0);
}

TEST_CASE("the position told is the order popped") {
  FairQueue queue;
  for (int i = 0; i < 4; ++i) queue.push("a", "a" + std::to_string(i));
  for (int i = 0; i < 2; ++i) queue.push("b", "b" + std::to_string(i));
  queue.push("c", "c0");
  queue.pop();
  CHECK(queue.position("a0") == 0);
  while (queue.size() > 0) {
    const std::vector<std::string> all = {"a1", "a2", "a3", "b0", "b1", "c0"};
    std::string next;
    for (const std::string& job : all) {
      if (queue.position(job) == 1) next = job;
    }
    std::size_t highest = 0;
    for (const std::string& job : all) highest = std::max(highest, queue.position(job));
    CHECK(highest == queue.size());
    CHECK(*queue.pop() == next);
  }
}

TEST_CASE("a removed job is gone, and its run's lane with the last of them") {
  FairQueue queue;
  queue.push("a", "a1");
  queue.push("b", "b1");
  CHECK(queue.remove("a1"));
  CHECK_FALSE(queue.remove("a1"));
  CHECK(queue.size() == 1);
  CHECK(queue.size_of("a") == 0);
  CHECK(*queue.pop() == "b1");
  CHECK_FALSE(queue.pop().has_value());
}

}  // namespace assay::server
