// Tests which case runs again in reverse order. tests/sandbox/device/cpu_test.cc tests the run.
#include "sandbox/judging/program_order.h"

#include <cstdint>
#include <vector>

#include "tests/catch.h"

using namespace assay::sandbox;

namespace {

Job job_with(const std::vector<std::int64_t>& rows) {
  Job job;
  for (const std::int64_t n : rows) {
    CaseRequest one;
    one.axes = {{"rows", n}, {"cols", 2}};
    job.cases.push_back(one);
  }
  return job;
}

}  // namespace

TEST_CASE("the largest case that is not too large runs in reverse order") {
  const auto most = static_cast<std::int64_t>(kMostOrderElements) / 2;
  CHECK(order_case(job_with({5, 9, 1}), {0, 1, 2}) == 1);
  CHECK(order_case(job_with({5, 9, 1}), {0, 2}) == 0);
  CHECK(order_case(job_with({5, most, most + 1}), {0, 1, 2}) == 1);
  CHECK(order_case(job_with({most + 3, most + 1, most + 2}), {0, 1, 2}) == 1);
}
