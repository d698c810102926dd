#include "sandbox/job/verdict_builder.h"

#include "tests/catch.h"

using namespace assay;
using namespace assay::sandbox;

namespace {

CaseRecord record(const std::string& id, Outcome outcome) {
  CaseRecord made;
  made.id = id;
  made.outcome = outcome;
  made.max_abs_error = outcome == Outcome::pass ? 1e-6 : 3.0;
  if (outcome != Outcome::pass) made.reason = "max error 3";
  return made;
}

Verdict fresh() {
  Job job;
  job.id = "job_x";
  job.source = "abc";
  return begin_verdict(job);
}

Timing timing(double median_ns) {
  Timing made;
  made.median_ns = median_ns;
  return made;
}

}  // namespace

TEST_CASE("a pass needs one passing record for every required case") {
  Verdict verdict = fresh();
  add_record(verdict, record("a", Outcome::pass), ErrorKind::none);
  SECTION("all there") {
    conclude(verdict, {"a"});
    CHECK(verdict.outcome == Outcome::pass);
    CHECK(verdict.error_kind == ErrorKind::none);
    CHECK(verdict.stage == Stage::done);
  }
  SECTION("one missing") {
    conclude(verdict, {"a", "b"});
    CHECK(verdict.outcome == Outcome::error);
    CHECK(verdict.error_kind == ErrorKind::protocol_error);
  }
  SECTION("one twice") {
    add_record(verdict, record("a", Outcome::pass), ErrorKind::none);
    conclude(verdict, {"a"});
    CHECK(verdict.error_kind == ErrorKind::protocol_error);
  }
  SECTION("one that is not required") {
    add_record(verdict, record("z", Outcome::pass), ErrorKind::none);
    conclude(verdict, {"a"});
    CHECK(verdict.error_kind == ErrorKind::protocol_error);
  }
}

TEST_CASE("a verdict without required cases is no pass") {
  Verdict verdict = fresh();
  conclude(verdict, {});
  CHECK(verdict.outcome == Outcome::error);
}

TEST_CASE("one wrong case fails the verdict, with the kind and reason of the first failure") {
  Verdict verdict = fresh();
  add_record(verdict, record("a", Outcome::pass), ErrorKind::none);
  add_record(verdict, record("b", Outcome::fail), ErrorKind::output_mismatch);
  add_record(verdict, record("c", Outcome::fail), ErrorKind::wrong_result);
  conclude(verdict, {"a", "b", "c"});
  CHECK(verdict.outcome == Outcome::fail);
  CHECK(verdict.error_kind == ErrorKind::output_mismatch);
  CHECK(verdict.summary == "fail (output_mismatch): 2 of 3 cases wrong; case 'b': max error 3");
}

TEST_CASE("the first error wins over later errors and over passing records") {
  Verdict verdict = fresh();
  add_record(verdict, record("a", Outcome::pass), ErrorKind::none);
  end_with_error(verdict, ErrorKind::timeout, Stage::run, "60 s");
  end_with_error(verdict, ErrorKind::crash, Stage::judge, "SIGSEGV");
  conclude(verdict, {"a"});
  CHECK(verdict.outcome == Outcome::error);
  CHECK(verdict.error_kind == ErrorKind::timeout);
  CHECK(verdict.stage == Stage::run);
  CHECK(verdict.summary == "error (timeout) at stage run: 60 s");
}

TEST_CASE("perf is the geometric mean of oracle over submission, or nothing") {
  CaseRecord fast = record("a", Outcome::pass);
  fast.latency = timing(10);
  fast.baseline_latency = timing(40);
  CaseRecord even = record("b", Outcome::pass);
  even.latency = timing(10);
  even.baseline_latency = timing(10);
  CHECK(*geometric_mean_perf({fast, even}) == Approx(2.0));
  CHECK_FALSE(geometric_mean_perf({}));
  even.latency.reset();
  CHECK_FALSE(geometric_mean_perf({fast, even}));
  even.latency = timing(0);
  CHECK_FALSE(geometric_mean_perf({fast, even}));
}

TEST_CASE("a verdict says with what its Perf compares, if anything was to be compared") {
  Job job;
  job.kind = JobKind::grade;
  CHECK_FALSE(begin_verdict(job).baseline);  // no oracle, as when an oracle is graded itself
  job.baseline_source = "def f(): ...";
  CHECK(begin_verdict(job).baseline == Baseline::oracle);
  job.baseline_source.clear();
  job.baseline = Baseline::torch_eager;
  CHECK(begin_verdict(job).baseline == Baseline::torch_eager);
  job.kind = JobKind::test;
  CHECK_FALSE(begin_verdict(job).baseline);

  job.kind = JobKind::grade;
  Verdict verdict = begin_verdict(job);
  CaseRecord timed = record("a", Outcome::pass);
  timed.latency = timing(10);
  timed.baseline_latency = timing(40);
  add_record(verdict, timed, ErrorKind::none);
  conclude(verdict, {"a"});
  CHECK(verdict.summary.ends_with("perf 4 (PyTorch eager latency / yours)"));
}

TEST_CASE("perf leaves out the cases that are not worth timing, and needs the others") {
  CaseRecord large = record("large", Outcome::pass), small = record("small", Outcome::pass);
  large.cost_bytes = 800;
  small.cost_bytes = 99;
  large.latency = timing(10);
  large.baseline_latency = timing(40);
  CHECK(*geometric_mean_perf({small, large}) == Approx(4.0));
  small.latency = timing(10);
  small.baseline_latency = timing(10);
  // A small case has no influence on Perf, even if it has times.
  CHECK(*geometric_mean_perf({small, large}) == Approx(4.0));
  large.latency.reset();
  CHECK_FALSE(geometric_mean_perf({small, large}));
}

TEST_CASE("outputs of a wrong form are a wrong answer, also when the candidate noticed it") {
  Verdict verdict = fresh();
  end_with_error(verdict, ErrorKind::output_mismatch, Stage::run, "want 1 output, got NoneType");
  conclude(verdict, {"a"});
  CHECK(verdict.outcome == Outcome::fail);
  CHECK(verdict.summary == "fail (output_mismatch): want 1 output, got NoneType");
}

TEST_CASE("a verdict has the hash of the source, or of the plans that replaced it") {
  CHECK(fresh().provenance.source_sha256.size() == 64);
  CHECK_FALSE(fresh().provenance.plans);
  Job job;
  job.plans = {{"small", "ASSAYPLN"}};
  const Verdict replay = begin_verdict(job);
  CHECK(replay.provenance.source_sha256.empty());
  REQUIRE(replay.provenance.plans);
  CHECK(replay.provenance.plans->at("small").size() == 64);
}

TEST_CASE("a case is timed from an eighth of the largest traffic or of the largest arithmetic on") {
  CHECK(worth_timing({{.bytes = 2e8, .flops = 6e7}, {.bytes = 1e5, .flops = 3e4}}) ==
        std::vector<bool>{true, false});
  CHECK(worth_timing({{.bytes = 800, .flops = 800},
                      {.bytes = 100, .flops = 1},
                      {.bytes = 1, .flops = 100},
                      {.bytes = 99, .flops = 99}}) == std::vector<bool>{true, true, true, false});
  // If one case has the most traffic and another case has the most arithmetic, both are timed.
  CHECK(worth_timing(
            {{.bytes = 800, .flops = 1}, {.bytes = 1, .flops = 800}, {.bytes = 1, .flops = 1}}) ==
        std::vector<bool>{true, true, false});
}

TEST_CASE(
    "a case without arithmetic is not large by that, and without any costs all cases are timed") {
  CHECK(worth_timing({{.bytes = 800, .flops = 0}, {.bytes = 1, .flops = 0}}) ==
        std::vector<bool>{true, false});
  CHECK(worth_timing({{}, {}}) == std::vector<bool>{true, true});
  CHECK(worth_timing({}).empty());
  CHECK(worth_timing({{.bytes = 1e5, .flops = 3e4}}) == std::vector<bool>{true});
}

TEST_CASE("the summary of an imported pass, which has no records, counts no cases") {
  Verdict verdict;
  verdict.kind = JobKind::grade;
  verdict.outcome = Outcome::pass;
  CHECK(summarise(verdict) == "pass, without records of cases");
}
