#include "server/runs/ended_jobs.h"

#include "tests/catch.h"

using namespace assay;
using namespace assay::server;

namespace {

tools::JobStatus status_of(const std::string& job) {
  tools::JobStatus status;
  status.job = job;
  status.elapsed_ms = 7;
  return status;
}

}  // namespace

TEST_CASE("an ended job is found by its caller only, and as long as there is room") {
  EndedJobs ended(2);
  ended.add("alice", status_of("job_a"));
  ended.add("alice", status_of("job_a"));  // the same job takes no more room
  ended.add("bob", status_of("job_b"));
  REQUIRE(ended.find("alice", "job_a"));
  CHECK(ended.find("alice", "job_a")->elapsed_ms == 7);
  CHECK_FALSE(ended.find("bob", "job_a"));
  ended.add("bob", status_of("job_c"));
  CHECK_FALSE(ended.find("alice", "job_a"));
  CHECK(ended.find("bob", "job_b"));
  CHECK(ended.find("bob", "job_c"));
}

TEST_CASE("without room nothing is remembered") {
  EndedJobs ended(0);
  ended.add("alice", status_of("job_a"));
  CHECK_FALSE(ended.find("alice", "job_a"));
}
