#include "sandbox/device/fake.h"

#include <chrono>
#include <thread>

#include "tests/catch.h"

namespace assay::sandbox {
namespace {

Job job_of(const std::string& source, JobKind kind = JobKind::test) {
  Job job;
  job.id = "job_x";
  job.kind = kind;
  job.operator_name = "vector_add";
  job.source = source;
  for (const char* id : {"small", "large"}) {
    CaseRequest request;
    request.id = id;
    job.cases.push_back(request);
  }
  return job;
}

Verdict run_on_fake(const Job& job) {
  JobMonitor monitor;
  return make_fake_device()->execute(job, monitor);
}

}  // namespace

TEST_CASE("the fake device names itself and judges nothing") {
  CHECK(make_fake_device()->info().name == "fake");
  const Verdict verdict = run_on_fake(job_of("x = 1\n"));
  CHECK(verdict.tier == Tier::none);
  CHECK(verdict.tier_reason == "the fake device judges nothing");
}

TEST_CASE("the fake device gives one record per case") {
  const Verdict pass = run_on_fake(job_of("# fake: pass\n"));
  CHECK(pass.outcome == Outcome::pass);
  CHECK(pass.error_kind == ErrorKind::none);
  REQUIRE(pass.cases.size() == 2);
  CHECK(pass.cases[0].id == "small");
  CHECK(pass.cases[1].outcome == Outcome::pass);

  const Verdict wrong = run_on_fake(job_of("def f():\n  return 1  # fake: fail\n"));
  CHECK(wrong.outcome == Outcome::fail);
  CHECK(wrong.error_kind == ErrorKind::wrong_result);
  REQUIRE(wrong.cases.size() == 2);
  CHECK(wrong.cases[0].first_mismatch.has_value());
}

TEST_CASE("the fake device ends with the error that the source names, at its line") {
  const Verdict verdict = run_on_fake(job_of("import torch\n\nx = 1  # fake: error=timeout\n"));
  CHECK(verdict.outcome == Outcome::error);
  CHECK(verdict.error_kind == ErrorKind::timeout);
  REQUIRE(verdict.diagnostic.has_value());
  CHECK(verdict.diagnostic->line == 3);
  CHECK(verdict.cases.empty());
}

TEST_CASE("an unknown directive is an error that names the valid ones, never a pass") {
  for (const char* source :
       {"# fake: passs\n", "# fake: error=none\n", "# fake: error=oops\n", "# fake: sleep_ms=x\n",
        "# fake: sleep_ms=-1\n", "# fake: perf=0\n", "# fake: perf=inf\n", "# fake:\n"}) {
    INFO(source);
    const Verdict verdict = run_on_fake(job_of(source));
    CHECK(verdict.outcome == Outcome::error);
    CHECK(verdict.error_kind == ErrorKind::unsupported);
    CHECK(verdict.summary.find("sleep_ms=N") != std::string::npos);
  }
}

TEST_CASE("latencies and perf come only from a directive, and only in timed jobs") {
  CHECK_FALSE(run_on_fake(job_of("# fake: pass", JobKind::grade)).perf.has_value());
  CHECK_FALSE(run_on_fake(job_of("# fake: perf=1.25", JobKind::test)).perf.has_value());
  const Verdict verdict = run_on_fake(job_of("# fake: perf=1.25", JobKind::grade));
  REQUIRE(verdict.perf.has_value());
  CHECK(*verdict.perf == Approx(1.25));
  REQUIRE(verdict.cases[0].latency.has_value());
  CHECK(verdict.cases[0].baseline_latency->median_ns / verdict.cases[0].latency->median_ns ==
        Approx(1.25));
}

TEST_CASE("the fake device sleeps within the job's limit and can be cancelled") {
  Job job = job_of("# fake: sleep_ms=60000\n");
  job.limits.run_wall_ms = 20;
  CHECK(run_on_fake(job).error_kind == ErrorKind::timeout);

  job.limits.run_wall_ms = 60'000;
  std::stop_source cancel;
  JobMonitor monitor{.stop = cancel.get_token()};
  std::thread canceller;
  monitor.stage_changed = [&](Stage stage) {
    if (stage == Stage::run) canceller = std::thread([&] { cancel.request_stop(); });
  };
  const auto device = make_fake_device();
  const auto start = std::chrono::steady_clock::now();
  const Verdict verdict = device->execute(job, monitor);
  REQUIRE(canceller.joinable());
  canceller.join();
  CHECK(verdict.error_kind == ErrorKind::cancelled);
  CHECK(std::chrono::steady_clock::now() - start < std::chrono::seconds(50));
}

TEST_CASE("the fake device is deterministic and tells its stages in order") {
  std::vector<Stage> stages;
  JobMonitor monitor;
  monitor.stage_changed = [&](Stage stage) { stages.push_back(stage); };
  const auto device = make_fake_device();
  const Job job = job_of("# fake: fail\n");
  const Verdict first = device->execute(job, monitor);
  CHECK(stages == std::vector<Stage>{Stage::import, Stage::run, Stage::judge});
  const Verdict second = device->execute(job, monitor);
  CHECK(first.summary == second.summary);
  CHECK(first.cases[0].max_abs_error == second.cases[0].max_abs_error);
}

TEST_CASE("the fake device reports how many cases are through") {
  JobMonitor monitor;
  std::int64_t done = 0;
  std::int64_t total = 0;
  monitor.case_done = [&](std::int64_t now, std::int64_t all) {
    done = now;
    total = all;
  };
  make_fake_device()->execute(job_of("# fake: pass\n"), monitor);
  CHECK(done == 2);
  CHECK(total == 2);
}

TEST_CASE("the fake device passes no launch plan") {
  JobMonitor monitor;
  Job job = job_of("");
  job.plans = {{"small", "ASSAYPLN"}};
  const Verdict verdict = make_fake_device()->execute(job, monitor);
  CHECK(verdict.outcome == Outcome::error);
  CHECK(verdict.error_kind == ErrorKind::unsupported);
}

}  // namespace assay::sandbox
