#include "sandbox/device/diagnosis.h"

#include "tests/catch.h"

using namespace assay::sandbox;

namespace {

LauncherDevice device() {
  LauncherDevice made;
  made.bandwidth_bytes_per_s = 4.8e12;
  return made;
}

CaseRecord record(double bytes, double flops, double floor_ns, double median_ns) {
  CaseRecord made;
  made.cost_bytes = bytes;
  made.cost_flops = flops;
  made.floor_ns = floor_ns;
  made.latency = Timing{};
  made.latency->median_ns = median_ns;
  return made;
}

}  // namespace

TEST_CASE("a kernel near the memory floor is memory-bound, and the numbers are there") {
  const std::string text = diagnosis(device(), record(302e6, 25e6, 62'917, 79'400));
  CHECK(text.find("memory-bound: 79 % of the roofline") == 0);
  CHECK(text.find("3804 GB/s") != std::string::npos);
}

TEST_CASE("a floor above the memory's is arithmetic") {
  CHECK(diagnosis(device(), record(100e6, 137e9, 140'000, 200'000)).find("compute-bound: 70 %") == 0);
}

TEST_CASE("small or far from any roof: latency") {
  CHECK(diagnosis(device(), record(48e3, 4e3, 10, 4'000)).find("latency-bound") == 0);
  CHECK(diagnosis(device(), record(302e6, 25e6, 62'917, 900'000)).find("latency-bound: 7 %") == 0);
}

TEST_CASE("nothing was measured: nothing is said") {
  CaseRecord empty;
  CHECK(diagnosis(device(), empty).empty());
}
