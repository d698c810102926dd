#include "server/evaluate/input_groups.h"

#include <catch2/catch.hpp>
#include <string>

#include "base/clock.h"

using namespace assay;
using namespace assay::server;

TEST_CASE("members of a group share a secret until a verdict of the group is read") {
  InputGroups groups(system_clock());
  const std::string first = groups.secret_of("alice", "step 1", "job_1");
  CHECK_FALSE(first.empty());
  CHECK(groups.secret_of("alice", "step 1", "job_2") == first);
  groups.note_read("job_1");
  const std::string second = groups.secret_of("alice", "step 1", "job_3");
  CHECK(second != first);
  groups.note_read("job_2");  // belongs to the generation that has ended
  CHECK(groups.secret_of("alice", "step 1", "job_4") == second);
  groups.note_read("job_of_no_group");
  CHECK(groups.secret_of("alice", "step 1", "job_5") == second);
}

TEST_CASE("a principal who has read all verdicts gets new inputs for each group") {
  InputGroups groups(system_clock());
  const std::string first = groups.secret_of("alice", "1", "job_1");
  const std::string second = groups.secret_of("alice", "2", "job_2");
  const std::string other = groups.secret_of("alicia", "1", "job_3");
  groups.note_all_read("alice");
  CHECK(groups.secret_of("alice", "1", "job_4") != first);
  CHECK(groups.secret_of("alice", "2", "job_5") != second);
  CHECK(groups.secret_of("alicia", "1", "job_6") == other);
}

TEST_CASE("groups of other names and of other principals have other secrets") {
  InputGroups groups(system_clock());
  const std::string first = groups.secret_of("alice", "step 1", "job_1");
  CHECK(groups.secret_of("alice", "step 2", "job_2") != first);
  CHECK(groups.secret_of("bob", "step 1", "job_3") != first);
}

TEST_CASE("a job that was refused leaves nothing behind") {
  InputGroups groups(system_clock());
  const std::string first = groups.secret_of("alice", "1", "job_1");
  CHECK(groups.secret_of("alice", "1", "refused") == first);
  groups.forget("refused");
  groups.forget("refused");
  CHECK(groups.secret_of("alice", "1", "job_2") == first);
  groups.note_read("refused");  // its owner can read no verdict of it
  CHECK(groups.secret_of("alice", "1", "job_3") == first);
  groups.secret_of("alice", "2", "only");
  groups.forget("only");
  CHECK(groups.jobs() == 3);
}

TEST_CASE("jobs that nobody reads have a maximum number") {
  InputGroups groups(system_clock());
  const std::string first = groups.secret_of("alice", "all", "job");
  for (std::size_t i = 0; i < InputGroups::kMostJobs; ++i)
    groups.secret_of("alice", "all", "job_" + std::to_string(i));
  CHECK(groups.jobs() <= InputGroups::kMostJobs);
  CHECK(groups.secret_of("alice", "all", "last") != first);
}

TEST_CASE("the group that was unused for longest is forgotten, and then gets other inputs") {
  InputGroups groups(system_clock());
  const std::string first = groups.secret_of("alice", "0", "job_0");
  for (std::size_t i = 1; i <= InputGroups::kMostGroups; ++i)
    groups.secret_of("alice", std::to_string(i), "job_" + std::to_string(i));
  CHECK(groups.secret_of("alice", "0", "job_again") != first);
}
