// Tests faults of a submission on the CPU device: the verdict names the fault, and the next
// submission runs normally.
#include <algorithm>
#include <string>
#include <vector>

#include "tests/catch.h"
#include "tests/sandbox/device/bad_submissions.h"
#include "tests/sandbox/device/cpu_fixture.h"

using namespace assay;
using namespace assay::sandbox;
using namespace assay::sandbox::testing;

TEST_CASE("the verdict names the fault of a bad submission, and the next submission runs") {
  std::map<std::string, double> times;
  for (const Bad& bad : kBad) {
    Job job = test_job(bad.source);
    const bool forks = std::string(bad.name) == "fork bomb";
    if (bad.kind == ErrorKind::timeout || forks) job.limits = short_limits();
    if (bad.kind == ErrorKind::memory_limit) job.limits.memory_bytes = 1LL << 30;
    const Verdict verdict = run_on_cpu(job);
    INFO(bad.name << ": " << verdict.summary << " | " << verdict.detail << " | stage "
                  << to_string(verdict.stage) << " | " << verdict.stderr_text.substr(0, 500));
    CHECK(verdict.outcome == bad.outcome);
    // An ordinary user's jail has no cgroup that limits the number of processes. In such a jail, a
    // fork bomb runs until its time limit.
    const std::vector<std::string>& missing = verdict.provenance.missing_layers;
    const bool counted = std::find(missing.begin(), missing.end(), "cgroup_pids") == missing.end();
    CHECK(to_string(verdict.error_kind) ==
          to_string(forks && !counted ? ErrorKind::timeout : bad.kind));
    CHECK(to_string(verdict.stage) == to_string(bad.stage));
    CHECK(to_string(verdict.tier) ==
          to_string(bad.stage == Stage::import ? Tier::none : Tier::interpreter));
    if (bad.stage == Stage::run && verdict.cases.empty())
      CHECK(verdict.tier_reason == "stopped by the error");
  }
  const Verdict good = run_on_cpu(test_job(kGood));
  INFO(good.summary << " | " << good.detail << " | " << good.stderr_text.substr(0, 500));
  CHECK(good.outcome == Outcome::pass);
}

TEST_CASE(
    "a submission that exceeds the time limit learns its line; one that cannot be stopped or lies "
    "does not") {
  Job job = test_job("def vector_add(x, y):\n    n = 0\n    while True:\n        n += 1\n");
  job.limits.run_wall_ms = 2'000;
  const Verdict loops = run_on_cpu(job);
  CHECK(to_string(loops.error_kind) == to_string(ErrorKind::timeout));
  REQUIRE(loops.diagnostic);
  CHECK(loops.diagnostic->line.value_or(0) >= 3);
  CHECK(loops.detail == "stopped after 1900 ms; the limit is 2000 ms (case 'small')");

  job.source =
      "import time\ndef vector_add(x, y):\n    while True:\n        try:\n            "
      "time.sleep(9)\n        except BaseException: pass\n";
  const Verdict stubborn = run_on_cpu(job);
  CHECK(to_string(stubborn.error_kind) == to_string(ErrorKind::timeout));
  CHECK(stubborn.detail == "ran longer than 2000 ms (in stage run)");
  CHECK_FALSE(stubborn.diagnostic);

  job.source =
      "import sys\ndef vector_add(x, y):\n    raise "
      "sys.modules['harness.entry.time_limit'].TimeIsUp('at "
      "once')\n";
  const Verdict liar = run_on_cpu(job);
  CHECK(to_string(liar.error_kind) == to_string(ErrorKind::protocol_error));
  CHECK(liar.detail == "the candidate reported a timeout before its time limit");
}

TEST_CASE("output is kept up to a bound, and never decides") {
  const Verdict verdict = run_on_cpu(test_job("print('pass' * 100000)\n" + kGood));
  CHECK(verdict.outcome == Outcome::pass);
  CHECK(verdict.stdout_text.size() < 70'000);
  CHECK(verdict.stdout_text.find("bytes cut") != std::string::npos);
}
