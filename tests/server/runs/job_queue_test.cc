#include "server/runs/job_queue.h"

#include <vector>

#include "tests/catch.h"

namespace assay::server {

TEST_CASE("runs take turns, and within a run jobs keep their order") {
  JobQueue queue(1);
  for (const char* job : {"a1", "a2", "a3", "a4"}) queue.push("a", job);
  queue.push("b", "b1");
  queue.push("c", "c1");
  queue.push("b", "b2");
  std::vector<std::string> order;
  while (auto job = queue.pop()) order.push_back(*job);
  CHECK(order == std::vector<std::string>{"a1", "b1", "c1", "a2", "b2", "a3", "a4"});
  CHECK(queue.size() == 0);
}

TEST_CASE("positions are the order in which jobs are popped") {
  JobQueue queue(1);
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

TEST_CASE("a removed job is gone, and its run's turn with its last job") {
  JobQueue queue(1);
  queue.push("a", "a1");
  queue.push("b", "b1");
  CHECK(queue.remove("a1"));
  CHECK_FALSE(queue.remove("a1"));
  CHECK(queue.size() == 1);
  CHECK(*queue.pop() == "b1");
  CHECK_FALSE(queue.pop().has_value());
}

TEST_CASE("a wait is estimated from the last jobs, the position and the number of workers") {
  JobQueue queue(2);
  CHECK_FALSE(queue.expected_wait_ms(1));
  queue.add_duration(800);
  CHECK(queue.expected_wait_ms(1) == 400);
  CHECK(queue.expected_wait_ms(3) == 1'200);
  for (int i = 0; i < 50; ++i) queue.add_duration(100);
  CHECK(queue.expected_wait_ms(2) == 100);
}

}  // namespace assay::server
