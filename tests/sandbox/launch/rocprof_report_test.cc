#include "sandbox/launch/rocprof_report.h"

#include "sandbox/launch/csv_cells.h"
#include "tests/catch.h"

using namespace assay;
using namespace assay::sandbox;

namespace {

const std::string kNames =
    "\"Correlation_Id\",\"Dispatch_Id\",\"Agent_Id\",\"Queue_Id\",\"Process_Id\",\"Thread_Id\","
    "\"Grid_Size\",\"Kernel_Id\",\"Kernel_Name\",\"Workgroup_Size\",\"LDS_Block_Size\","
    "\"Scratch_Size\",\"VGPR_Count\",\"Accum_VGPR_Count\",\"SGPR_Count\",\"Counter_Name\","
    "\"Counter_Value\",\"Start_Timestamp\",\"End_Timestamp\"\n";

/// A line of rocprofv3's counter_collection.csv for one counter of a launch.
std::string line(int dispatch, const std::string& kernel, const std::string& counter, double value,
                 int start, int end) {
  const std::string id = std::to_string(dispatch);
  return id + "," + id + ",\"Agent 4\",1,77,77,4096,5,\"" + kernel + "\",256,512,0,24,8,32,\"" +
         counter + "\"," + std::to_string(value) + "," + std::to_string(start) + "," +
         std::to_string(end) + "\n";
}

std::vector<std::string> reports() {
  const std::string first = "W2026 rocprofv3 says something, with commas\n" + kNames +
                            line(1, "row_sum", "VALUBusy", 11, 1000, 2000) +
                            line(3, "row_sum", "VALUBusy", 12.5, 3000, 5000) +
                            line(3, "row_sum", "MfmaUtil", 40, 3000, 5000) +
                            line(3, "row_sum", "OccupancyPercent", 50, 3000, 5000) +
                            line(3, "row_sum", "SQ_WAVES", 64, 3000, 5000) +
                            line(3, "row_sum", "SQ_LDS_BANK_CONFLICT", 25, 3000, 5000) +
                            line(3, "row_sum", "SQ_LDS_IDX_ACTIVE", 100, 3000, 5000) +
                            line(2, "_Z5scalePf.kd", "VALUBusy", 1, 2100, 2200);
  const std::string second = kNames + line(1, "row_sum", "FETCH_SIZE", 1, 1000, 9000) +
                             line(3, "row_sum", "FETCH_SIZE", 1024, 3000, 5100) +
                             line(2, "_Z5scalePf.kd", "FETCH_SIZE", 2, 2100, 2200);
  const std::string third = kNames + line(1, "row_sum", "WRITE_SIZE", 1, 1000, 2000) +
                            line(3, "row_sum", "WRITE_SIZE", 512, 3000, 5100) +
                            line(3, "row_sum", "TCC_HIT_sum", 30, 3000, 5100) +
                            line(3, "row_sum", "TCC_MISS_sum", 10, 3000, 5100);
  return {first, second, third};
}

std::vector<KernelReport> kernels() {
  std::vector<KernelReport> made(4);
  made[0].name = "scale";
  made[0].symbol = "_Z5scalePf";
  made[1].name = "row_sum";
  made[2].name = "row_sum";
  made[3].name = "absent";
  return made;
}

}  // namespace

TEST_CASE("the passes of rocprofv3 become the counters of the longest launch of each kernel") {
  const auto counters = read_rocprof_reports(reports(), kernels(), 1.6e12);
  REQUIRE(counters);
  REQUIRE(counters->size() == 2);
  const KernelCounters& scale = (*counters)[0];
  CHECK(scale.kernel == "scale");
  CHECK(scale.values.at("duration_ns") == 100);
  CHECK(scale.values.at("dram_read_bytes") == 2048);
  CHECK_FALSE(scale.values.contains("dram_write_bytes"));  // the third pass does not have it
  CHECK_FALSE(scale.values.contains("memory_pct"));
  const KernelCounters& sum = (*counters)[1];
  CHECK(sum.kernel == "row_sum");
  CHECK(sum.values.at("duration_ns") == 2000);
  CHECK(sum.values.at("registers") == 32);  // 24 vector and 8 accumulation registers
  CHECK(sum.values.at("valu_pct") == 12.5);
  CHECK(sum.values.at("tensor_pct") == 40);
  CHECK(sum.values.at("sm_pct") == 40);
  CHECK(sum.values.at("wavefronts") == 64);
  CHECK(sum.values.at("occupancy_pct") == 50);
  CHECK(sum.values.at("shared_conflict_share") == 0.25);
  CHECK(sum.values.at("l2_hit_pct") == 75);
  CHECK(sum.values.at("dram_read_bytes") == 1 << 20);
  CHECK(sum.values.at("dram_write_bytes") == 1 << 19);
  // 1.5 MiB in 2000 ns are 0.786 TB/s, of 1.6 TB/s.
  CHECK(sum.values.at("memory_pct") == Approx(49.152));
}

TEST_CASE("counters of a pass with other launches are left out") {
  std::vector<std::string> passes = reports();
  passes[1] += line(4, "row_sum", "FETCH_SIZE", 7, 6000, 7000);
  const auto counters = read_rocprof_reports(passes, kernels(), 1.6e12);
  REQUIRE(counters);
  CHECK_FALSE((*counters)[1].values.contains("dram_read_bytes"));
}

TEST_CASE("without counters the error has what rocprofv3 printed") {
  const auto refused = read_rocprof_reports({"rocprofv3: no agent\n", ""}, kernels(), 1);
  REQUIRE_FALSE(refused);
  CHECK(refused.error().code == ErrorCode::unavailable);
  CHECK(refused.error().message.find("it printed: rocprofv3: no agent") != std::string::npos);
  CHECK_FALSE(read_rocprof_reports({}, kernels(), 1));
  CHECK_FALSE(read_rocprof_reports({kNames + "1,2,3\n"}, kernels(), 1));
  CHECK_FALSE(read_rocprof_reports({kNames + line(1, "row_sum", "VALUBusy", 1e300 * 1e300, 1, 2)},
                                   kernels(), 1));
}

TEST_CASE("a report of rocprofv3 that is cut short gives its whole lines") {
  const std::string whole = reports()[0];
  for (std::size_t size = 0; size < whole.size(); ++size) {
    const auto counters = read_rocprof_reports({whole.substr(0, size)}, kernels(), 1);
    if (counters) CHECK(counters->back().kernel == "row_sum");
  }
}

TEST_CASE("cells of a line with quotes") {
  CHECK(csv_cells("7,\"f(int, int)\",\"say \"\"x\"\"\",\r") ==
        std::vector<std::string>{"7", "f(int, int)", "say \"x\"", ""});
  CHECK(csv_cells(std::string(4 * kMaxCsvCells, ',')).size() <= kMaxCsvCells + 1);
}
