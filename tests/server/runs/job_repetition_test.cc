// Tests which jobs run again at once.
#include <atomic>
#include <memory>
#include <string>

#include "server/runs/finished_job.h"
#include "server/runs/job_service.h"
#include "tests/base/log_file.h"
#include "tests/catch.h"
#include "tests/server/runs/services_fixture.h"

namespace assay::server {
namespace {

using sandbox::ErrorKind;
using sandbox::Outcome;
using testing::ServicesFixture;

/// A device whose first verdicts are errors of one kind, and whose later verdicts are passes of the
/// fake device.
class Failing final : public sandbox::Device {
 public:
  struct Plan {
    ErrorKind kind = ErrorKind::none;  // none: a pass
    int times = 1;
    bool shortage = false;
    bool hidden = false;  // a process of the submission got hidden cases
  };
  Failing(const Plan& plan, std::atomic<int>& runs)
      : fake_(sandbox::make_fake_device(1)), plan_(plan), runs_(runs) {}
  sandbox::DeviceInfo info() const override { return fake_->info(); }
  sandbox::Verdict execute(const sandbox::Job& job, sandbox::JobMonitor& monitor) override {
    if (++runs_ > plan_.times) return fake_->execute(job, monitor);
    sandbox::Verdict verdict =
        verdict_without_execution(job, plan_.kind, "the judge did not answer");
    verdict.reports_shortage = plan_.shortage;
    verdict.tells_hidden = plan_.hidden;
    if (plan_.kind == ErrorKind::none) verdict.outcome = Outcome::pass;
    return verdict;
  }

 private:
  const std::unique_ptr<sandbox::Device> fake_;
  const Plan plan_;
  std::atomic<int>& runs_;
};

struct Seen {
  sandbox::Verdict verdict;
  int runs = 0;
};

Seen run(const Failing::Plan& plan, sandbox::JobKind kind = sandbox::JobKind::test) {
  std::atomic<int> runs = 0;
  ServicesFixture services;
  services.close();
  services.open("fake", std::make_unique<Failing>(plan, runs));
  sandbox::Job job = services.job("# fake: pass\n");
  job.kind = kind;
  const auto handle = services->jobs().submit({}, job, "", "");
  REQUIRE(handle);
  sandbox::Verdict verdict = *services.end_of(*handle).verdict;
  return {std::move(verdict), runs};
}

}  // namespace

TEST_CASE("a job runs again after an infrastructure error, and after no other error") {
  for (const ErrorKind kind : {ErrorKind::internal_error, ErrorKind::device_unhealthy}) {
    const Seen once = run({.kind = kind}), twice = run({.kind = kind, .times = 2});
    CHECK(once.verdict.outcome == Outcome::pass);
    CHECK(once.runs == 2);
    CHECK(twice.verdict.error_kind == kind);
    CHECK(twice.runs == 2);
  }
  for (const ErrorKind kind : {ErrorKind::crash, ErrorKind::timeout, ErrorKind::unsupported}) {
    const Seen seen = run({.kind = kind});
    CHECK(seen.verdict.error_kind == kind);
    CHECK(seen.runs == 1);
  }
}

TEST_CASE("a job that may have lacked a resource runs again, unless it passed") {
  for (const ErrorKind kind : {ErrorKind::memory_limit, ErrorKind::other_exception}) {
    const Seen once = run({.kind = kind, .shortage = true});
    const Seen twice = run({.kind = kind, .times = 2, .shortage = true});
    CHECK(once.verdict.outcome == Outcome::pass);
    CHECK(once.runs == 2);
    CHECK(twice.verdict.error_kind == kind);
    CHECK(twice.runs == 2);
  }
  CHECK(run({.kind = ErrorKind::none, .shortage = true}).runs == 1);
}

TEST_CASE("a job whose submission had hidden cases gets no second attempt by a shortage") {
  const Seen seen = run({.kind = ErrorKind::key_error, .shortage = true, .hidden = true},
                        sandbox::JobKind::grade);
  CHECK(seen.verdict.error_kind == ErrorKind::key_error);
  CHECK(seen.runs == 1);
}

TEST_CASE("the log says why a job runs again, and nothing of a job with hidden cases") {
  const assay::testing::LogFile file(log::Level::warning, log::Format::text);
  for (const bool hidden : {false, true})
    run({.kind = ErrorKind::key_error, .shortage = true, .hidden = hidden},
        sandbox::JobKind::grade);
  const std::string text = file.text();
  const std::size_t at = text.find("job runs again");
  REQUIRE(at != std::string::npos);
  CHECK(text.find("error=key_error", at) != std::string::npos);
  CHECK(text.find("job runs again", at + 1) == std::string::npos);
}

}  // namespace assay::server
