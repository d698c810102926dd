// Tests the progress that a call reports while it follows a job, with a scripted JobService.
#include "tools/call/run_job.h"

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "tests/catch.h"
#include "tests/tools/empty_services.h"
#include "tests/tools/fixture.h"

namespace assay::tools {
namespace {

/// A service with one job. The job is in a stage before the first wait, and ends `lasts_ms` later.
/// A wait advances the clock.
class JobUnderWay final : public NoJobs {
 public:
  JobUnderWay(ManualClock& clock, std::int64_t lasts_ms) : clock_(clock), left_ms_(lasts_ms) {}

  Result<JobStatus> wait(const Principal&, const std::string& job, std::int64_t wait_ms,
                         const std::function<bool(const JobStatus&)>&, std::stop_token) override {
    const std::int64_t passed_ms = std::min(wait_ms, left_ms_);
    clock_.advance_ms(passed_ms);
    left_ms_ -= passed_ms;
    JobStatus status;
    status.job = job;
    status.state = JobState::running;
    status.stage = "import";
    if (left_ms_ == 0) {
      status.state = JobState::finished;
      status.verdict = std::make_shared<sandbox::Verdict>();
    }
    return status;
  }

 private:
  ManualClock& clock_;
  std::int64_t left_ms_;
};

/// Follows a job that lasts `lasts_ms`. Returns the progress messages.
std::vector<std::string> reported(std::int64_t lasts_ms) {
  const testing::TemporaryCatalog catalog;
  ManualClock clock;
  NoRuns runs;
  JobUnderWay jobs(clock, lasts_ms);
  NoArtifacts artifacts;
  const Services services = {
      .catalog = *catalog, .runs = runs, .jobs = jobs, .artifacts = artifacts, .clock = clock};
  std::vector<std::string> messages;
  mcp::RequestContext context;
  context.progress = [&](double, double, const std::string& message) {
    messages.push_back(message);
  };
  const mcp::ToolResult answer =
      follow_job(services, "job_x", {.wait_ms = 20'000, .cancel_on_hangup = true}, context);
  CHECK_FALSE(answer.is_error);
  return messages;
}

}  // namespace

TEST_CASE("a job is sent on behalf of the principal whose token the call has") {
  class Noting : public NoJobs {
   public:
    Result<std::string> submit(const Principal& principal, sandbox::Job, const std::string&,
                               const std::string&) override {
      caller = principal.name;
      return refused();
    }
    std::string caller = "nobody yet";
  };
  const testing::TemporaryCatalog catalog;
  NoRuns runs;
  Noting jobs;
  NoArtifacts artifacts;
  const Services services = {
      .catalog = *catalog, .runs = runs, .jobs = jobs, .artifacts = artifacts};
  mcp::RequestContext context;
  run_job(services, {}, {}, context);
  CHECK(jobs.caller.empty());
  context.caller = std::make_shared<const mcp::Caller>(mcp::Caller{"alice", {}});
  run_job(services, {}, {}, context);
  CHECK(jobs.caller == "alice");
}

TEST_CASE("a stage that began before the first wait is reported") {
  CHECK(reported(500) == std::vector<std::string>{"stage import, 0 s"});
}

TEST_CASE("a stage that goes on is reported once a second") { CHECK(reported(2'500).size() == 3); }

TEST_CASE("a job that ends at once reports nothing") { CHECK(reported(100).empty()); }

}  // namespace assay::tools
