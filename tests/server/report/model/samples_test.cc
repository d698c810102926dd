#include "server/report/model/samples.h"

#include "tests/catch.h"

using namespace assay;
using namespace assay::server;

namespace {

sandbox::CaseRecord timed_case(double ns, double oracle_ns, double pytorch_ns, double floor_ns) {
  sandbox::CaseRecord record;
  record.latency.emplace().median_ns = ns;
  record.baseline_latency.emplace().median_ns = oracle_ns;
  record.pytorch_ns = pytorch_ns;
  record.floor_ns = floor_ns;
  return record;
}

}  // namespace

TEST_CASE(
    "means over the cases: arithmetic for the speed-up and efficiency, geometric over PyTorch") {
  sandbox::Verdict verdict;
  verdict.outcome = sandbox::Outcome::pass;
  verdict.perf = 2;
  verdict.cases = {timed_case(100, 100, 100, 50), timed_case(100, 400, 400, 100)};
  const metrics::Sample sample = sample_of(verdict);
  CHECK(sample.called);
  CHECK(sample.right);
  CHECK(sample.perf == 2.0);
  CHECK(sample.speed_up.value() == Approx(2.5));
  CHECK(sample.speed_up_pytorch.value() == Approx(2.0));
  CHECK(sample.efficiency.value() == Approx(0.75));
  CHECK(sample.peak_efficiency.value() == Approx(1.0));
}

TEST_CASE("one case without a time: none, rather than the mean of the others") {
  sandbox::Verdict verdict;
  verdict.outcome = sandbox::Outcome::pass;
  verdict.cases = {timed_case(100, 100, 100, 50), sandbox::CaseRecord{}};
  const metrics::Sample sample = sample_of(verdict);
  CHECK_FALSE(sample.speed_up);
  CHECK_FALSE(sample.speed_up_pytorch);
  CHECK_FALSE(sample.efficiency);
  CHECK_FALSE(sample.peak_efficiency);
}

TEST_CASE("a case that is not worth timing needs no time") {
  sandbox::Verdict verdict;
  verdict.outcome = sandbox::Outcome::pass;
  verdict.cases = {sandbox::CaseRecord{}, timed_case(100, 400, 400, 100)};
  verdict.cases[0].cost_bytes = 99;
  verdict.cases[1].cost_bytes = 800;
  CHECK(sample_of(verdict).speed_up.value() == Approx(4.0));
  verdict.cases[0].cost_bytes = 100;
  CHECK_FALSE(sample_of(verdict).speed_up);
}

TEST_CASE("a wrong result was called; an error was not; neither has times") {
  sandbox::Verdict verdict;
  verdict.outcome = sandbox::Outcome::fail;
  verdict.error_kind = sandbox::ErrorKind::wrong_result;
  verdict.perf = 9;
  verdict.cases = {timed_case(1, 9, 9, 1)};
  CHECK(sample_of(verdict).called);
  CHECK_FALSE(sample_of(verdict).perf);
  verdict.outcome = sandbox::Outcome::error;
  verdict.error_kind = sandbox::ErrorKind::timeout;
  CHECK_FALSE(sample_of(verdict).called);
}

TEST_CASE("who is no model") {
  CHECK(names_no_model("scripted (no model)"));
  CHECK(names_no_model("sim:7?wrong=0.5 (no model)"));
  CHECK_FALSE(names_no_model("openai:gpt-5"));
  CHECK_FALSE(names_no_model(""));
}
