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
