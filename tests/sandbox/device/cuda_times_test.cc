// Tests the times of a recorded plan on the fake driver: the times in a verdict, and the times that
// a later job reuses.
#include <filesystem>
#include <string>
#include <vector>

#include "sandbox/timing/compiled_times.h"
#include "tests/catch.h"
#include "tests/sandbox/device/cuda_fixture.h"

using namespace assay;
using namespace assay::sandbox;
using namespace assay::sandbox::testing;

TEST_CASE("a grade times its large cases together with the oracle") {
  Job job = copy_job(JobKind::grade, kCopy);
  job.baseline_source = kClone;
  for (int round = 0; round < 2; ++round) {  // the second round uses the cache
    const Verdict verdict = run(job);
    INFO(verdict.summary << " " << verdict.detail << verdict.stderr_text);
    for (const Hint& hint : verdict.hints) UNSCOPED_INFO(hint.text);
    REQUIRE(verdict.outcome == Outcome::pass);
    REQUIRE(verdict.perf);
    CHECK(*verdict.perf > 0);
    // The first case is not timed, because its traffic is only a fifteenth of the second case's
    // traffic.
    CHECK_FALSE(verdict.cases[0].latency);
    const CaseRecord& timed = verdict.cases[1];
    REQUIRE(timed.latency);
    REQUIRE(timed.timeline.size() == 1);
    CHECK(timed.timeline[0].name == "fake_copy");
    CHECK(timed.own_share == 1.0);
    CHECK(timed.deterministic == true);
    CHECK(timed.latency->samples_ns.size() >= 30);
    CHECK(timed.baseline_latency);
    CHECK(timed.pytorch_ns);
    CHECK(timed.floor_ns);
  }
}

TEST_CASE("the launches of the oracle are launches of the grade") {
  Job job = copy_job(JobKind::grade, kCopy);
  const auto launchers = [&] {
    const Verdict verdict = run(job);
    INFO(verdict.summary << " " << verdict.detail << verdict.stderr_text);
    REQUIRE(verdict.outcome == Outcome::pass);
    REQUIRE(verdict.launch);
    CHECK(verdict.launch->ms.at("run") > 0);
    return verdict.launch->new_contexts + verdict.launch->kept_contexts;
  };
  CHECK(launchers() == 1);
  job.baseline_source = kClone;
  CHECK(launchers() == 2);
}

TEST_CASE("without an oracle, Perf compares with PyTorch eager, which each grade times") {
  Job job = copy_job(JobKind::grade, kCopy);
  job.cases = {job.cases.back()};
  job.cases[0].axes["n"] = 3'500;  // so that no other test has timed this case
  job.baseline = Baseline::torch_eager;
  double earlier_ns = 0;
  std::vector<double> earlier_samples;
  for (int round = 0; round < 2; ++round) {
    const Verdict verdict = run(job);
    INFO(verdict.summary << " " << verdict.detail << verdict.stderr_text);
    REQUIRE(verdict.outcome == Outcome::pass);
    CHECK(verdict.baseline == Baseline::torch_eager);
    const CaseRecord& timed = verdict.cases[0];
    REQUIRE(timed.latency);
    REQUIRE(timed.baseline_latency);
    CHECK(timed.baseline_latency->samples_ns.size() >= 10);
    CHECK(timed.baseline_latency->age_ms == 0);
    CHECK(timed.baseline_latency->samples_ns != earlier_samples);  // a grade reuses no baseline
    CHECK(timed.pytorch_ns == timed.baseline_latency->median_ns);
    REQUIRE(verdict.perf);
    CHECK(*verdict.perf == Approx(timed.baseline_latency->median_ns / timed.latency->median_ns));
    CHECK(verdict.summary.find("(PyTorch eager latency / yours)") != std::string::npos);
    earlier_ns = timed.baseline_latency->median_ns;
    earlier_samples = timed.baseline_latency->samples_ns;
  }
  job.kind = JobKind::profile;
  const Verdict profile = run(job);
  REQUIRE(profile.cases[0].baseline_latency);
  CHECK(profile.cases[0].baseline_latency->age_ms > 0);
  CHECK(profile.cases[0].baseline_latency->median_ns == Approx(earlier_ns));
}

TEST_CASE(
    "a profile reuses known times, and a grade those of another grade, the oracle's if they hold") {
  Job job = copy_job(JobKind::profile, kCopy);
  job.cases = {job.cases.back()};
  job.baseline_source = kClone;
  double pytorch_ns = 0;
  const auto oracle_age = [&](JobKind kind) {
    job.kind = kind;
    const Verdict verdict = run(job);
    INFO(verdict.summary << " " << verdict.detail << verdict.stderr_text);
    for (const Hint& hint : verdict.hints) UNSCOPED_INFO(hint.text);
    REQUIRE(verdict.outcome == Outcome::pass);
    REQUIRE(verdict.cases[0].latency);
    CHECK(verdict.cases[0].latency->age_ms == 0);
    REQUIRE(verdict.cases[0].baseline_latency);
    pytorch_ns = verdict.cases[0].pytorch_ns.value_or(0);
    CHECK(pytorch_ns > 0);
    return verdict.cases[0].baseline_latency->age_ms;
  };
  // If a verdict reuses a time, it has exactly this time. Two measurements can give the same time
  // too, but not for each of several cases.
  bool measured_again = false;
  for (const int n : {3'000, 3'008, 3'016}) {  // no other test has timed these cases
    job.cases[0].axes["n"] = n;
    CHECK(oracle_age(JobKind::profile) == 0);
    const double profiled_ns = pytorch_ns;
    CHECK(oracle_age(JobKind::profile) > 0);
    CHECK(pytorch_ns == profiled_ns);
    CHECK(oracle_age(JobKind::grade) == 0);
    const double graded_ns = pytorch_ns;
    measured_again = measured_again || graded_ns != profiled_ns;
    CHECK(oracle_age(JobKind::profile) > 0);  // the grade measured this time
    CHECK(pytorch_ns == graded_ns);
    CHECK(oracle_age(JobKind::grade) > 0);  // the fake driver's times are the same each time
    CHECK(pytorch_ns <= graded_ns);  // of PyTorch's times in both grades, the shortest counts
    oracle_age(JobKind::grade);
    const double shortest_ns = pytorch_ns;
    oracle_age(JobKind::grade);
    CHECK(pytorch_ns == shortest_ns);  // three grades have measured it
  }
  CHECK(measured_again);
}

TEST_CASE("a grade shows the times of torch.compile that the state folder holds") {
  Job job = copy_job(JobKind::grade, kCopy);
  const Verdict before = run(job);
  REQUIRE(before.outcome == Outcome::pass);
  const CaseRecord& untold = before.cases[1];
  CHECK_FALSE(untold.torch_compile_ns);
  CHECK(untold.torch_compile_unsupported.empty());
  const Provenance& from = before.provenance;
  const std::string path = compiled_times_path(real_config().state_dir, from.device_name,
                                               "plain_copy", from.operator_revision);
  REQUIRE(write_compiled_times(path, {.torch = from.torch, .cases = {{untold.id, 9e9, ""}}}));
  const Verdict after = run(job);
  std::filesystem::remove(path);
  REQUIRE(after.outcome == Outcome::pass);
  REQUIRE(after.cases[1].torch_compile_ns);
  CHECK(*after.cases[1].torch_compile_ns > 8e9);
}
