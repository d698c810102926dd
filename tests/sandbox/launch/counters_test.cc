#include "sandbox/launch/counters.h"

#include "tests/catch.h"

using namespace assay;
using namespace assay::sandbox;

namespace {

/// A report of ncu: its messages, the line of names, the line of units, and one row for each
/// launch.
const std::string kReport =
    "==PROF== Connected to process 7\n"
    "\"ID\",\"Kernel "
    "Name\",\"gpu__time_duration.sum\",\"dram__bytes_read.sum\",\"launch__occupancy_limit_"
    "registers\",\"launch__occupancy_limit_warps\","
    "\"l1tex__data_bank_conflicts_pipe_lsu_mem_shared.sum\",\"l1tex__data_pipe_lsu_wavefronts_mem_"
    "shared.sum\","
    "\"smsp__average_warps_issue_stalled_barrier_per_issue_active.ratio\",\"smsp__average_warps_"
    "issue_stalled_long_scoreboard_per_issue_active.ratio\"\n"
    "\"\",\"\",\"ns\",\"byte\",\"block\",\"block\",\"\",\"\",\"inst\",\"inst\"\n"
    "\"0\",\"row_sum\",\"1,500\",\"64\",\"4\",\"8\",\"5\",\"20\",\"1\",\"3\"\n"
    "\"1\",\"row_sum\",\"2,500.5\",\"1,024\",\"4\",\"8\",\"5\",\"20\",\"1\",\"3\"\r\n"
    "\"2\",\"scale(float*, int)\",\"900\",\"n/a\",\"16\",\"8\",\"0\",\"0\",\"0\",\"0\"\n"
    "\"3\",\"not_ours\",\"9,000\",\"1\",\"1\",\"1\",\"0\",\"0\",\"0\",\"0\"\n";

std::vector<KernelReport> kernels(const std::vector<std::string>& names) {
  std::vector<KernelReport> made(names.size());
  for (std::size_t i = 0; i < names.size(); ++i) made[i].name = names[i];
  return made;
}

}  // namespace

TEST_CASE("a report becomes counters of the wanted kernels, each from its longest launch") {
  const auto counters =
      read_ncu_report(kReport, kernels({"row_sum", "scale", "row_sum", "absent"}));
  REQUIRE(counters);
  REQUIRE(counters->size() == 2);
  const KernelCounters& sum = (*counters)[0];
  CHECK(sum.kernel == "row_sum");
  CHECK(sum.values.at("duration_ns") == 2500.5);
  CHECK(sum.values.at("dram_read_bytes") == 1024);
  CHECK(sum.values.at("shared_conflict_share") == 0.25);
  CHECK(sum.limiter == "registers");
  CHECK_FALSE(sum.values.contains("limit_registers"));
  REQUIRE(sum.stalls.size() == 2);
  CHECK(sum.stalls[0].reason == "long_scoreboard");
  CHECK(sum.stalls[0].share == Approx(0.75));
  const KernelCounters& scale = (*counters)[1];
  CHECK(scale.kernel == "scale");
  CHECK_FALSE(scale.values.contains("dram_read_bytes"));  // ncu reports "n/a" for this counter
  CHECK(scale.limiter == "warps");
  CHECK(scale.stalls.empty());
}

TEST_CASE("without a report the error has ncu's messages") {
  const auto refused = read_ncu_report(
      "==ERROR== ERR_NVGPUCTRPERM - The user does not have permission\n", kernels({"k"}));
  REQUIRE_FALSE(refused);
  CHECK(refused.error().code == ErrorCode::permission_denied);
  const auto broken = read_ncu_report(
      "==PROF== hello\n==ERROR== Launching the target application failed.\nmore\n", kernels({"k"}));
  REQUIRE_FALSE(broken);
  CHECK(broken.error().code == ErrorCode::unavailable);
  CHECK(broken.error().message.find("Launching the target application failed.") !=
        std::string::npos);
  // The error quotes ncu's error line first, and then all other lines, because the reason may be in
  // them.
  CHECK(broken.error().message.find("failed. | ==PROF== hello | more") != std::string::npos);
  CHECK_FALSE(read_ncu_report("", kernels({"k"})));
}

TEST_CASE("a report that is cut short gives its whole rows") {
  for (std::size_t size = 0; size < kReport.size(); ++size) {
    const auto counters =
        read_ncu_report(std::string_view(kReport).substr(0, size), kernels({"row_sum", "scale"}));
    if (counters) CHECK(counters->front().kernel == "row_sum");
  }
}
