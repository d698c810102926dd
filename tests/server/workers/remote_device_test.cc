#include "server/workers/remote_device.h"

#include <string>

#include "tests/catch.h"

using namespace assay;
using namespace assay::server;

namespace {

sandbox::Verdict timed(double ns) {
  sandbox::Verdict verdict;
  verdict.outcome = sandbox::Outcome::pass;
  sandbox::CaseRecord record;
  record.latency.emplace();
  record.latency->median_ns = ns;
  verdict.cases = {record};
  return verdict;
}

}  // namespace

TEST_CASE("a health check must pass") {
  HealthTimes times;
  sandbox::Verdict wrong;
  wrong.outcome = sandbox::Outcome::fail;
  wrong.summary = "1 of 6 cases wrong";
  CHECK(times.complaint_about(wrong) == "its health check did not pass: 1 of 6 cases wrong");
}

TEST_CASE("an error of the recording says nothing about the worker that launches") {
  sandbox::Verdict verdict;
  verdict.outcome = sandbox::Outcome::error;
  verdict.error_kind = sandbox::ErrorKind::internal_error;
  verdict.stage = sandbox::Stage::record;
  CHECK_FALSE(failed_in_recording(verdict));  // the worker recorded itself
  verdict.provenance.recorder = "cpus-1@node2";
  for (const auto stage : {sandbox::Stage::queue, sandbox::Stage::import, sandbox::Stage::compile,
                           sandbox::Stage::record}) {
    verdict.stage = stage;
    CHECK(failed_in_recording(verdict));
  }
  for (const auto stage : {sandbox::Stage::launch, sandbox::Stage::run, sandbox::Stage::judge}) {
    verdict.stage = stage;
    CHECK_FALSE(failed_in_recording(verdict));
  }
  verdict.stage = sandbox::Stage::record;
  verdict.outcome = sandbox::Outcome::fail;
  CHECK_FALSE(failed_in_recording(verdict));
}

TEST_CASE("a health check without times is only judged") {
  HealthTimes times;
  sandbox::Verdict right;
  right.outcome = sandbox::Outcome::pass;
  for (int i = 0; i < 5; ++i) CHECK(times.complaint_about(right).empty());
}

TEST_CASE("a health check that is more than 2 % off the median counts against the worker") {
  HealthTimes times;
  for (const double ns : {1'000.0, 1'010.0, 990.0}) CHECK(times.complaint_about(timed(ns)).empty());
  CHECK(times.complaint_about(timed(1'019)).empty());
  CHECK(times.complaint_about(timed(1'050)).find("took 1050 ns") != std::string::npos);
  CHECK_FALSE(times.complaint_about(timed(950)).empty());
  // A time that was refused does not move the median.
  CHECK(times.complaint_about(timed(1'000)).empty());
}
