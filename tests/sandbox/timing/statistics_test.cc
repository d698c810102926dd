#include "sandbox/timing/statistics.h"

#include "tests/catch.h"

using namespace assay::sandbox;

TEST_CASE(
    "the share of the submission's kernels is of the whole timeline, and each kernel has its own") {
  const std::vector<OperationTime> timeline = {{"fill", false, 1'000},
                                               {"row_sum", true, 5'000},
                                               {"assay_copy", false, 2'000},
                                               {"row_sum", true, 1'000},
                                               {"copy", true, 1'000}};
  CHECK(*own_share(timeline) == Approx(0.7));
  std::vector<KernelReport> kernels(3);
  kernels[0].name = "row_sum";
  kernels[1].name = "copy";        // a kernel may be called so
  kernels[2].name = "assay_copy";  // ours: no part of the submission's
  add_time_shares(kernels, timeline);
  CHECK(kernels[0].gpu_time_share == Approx(0.6));
  CHECK(kernels[1].gpu_time_share == Approx(0.1));
  CHECK(kernels[2].gpu_time_share == 0);
}

TEST_CASE("a kernel of C++ goes by its source's name") {
  std::vector<OperationTime> timeline = {{"_Z3addIfEvPKT_", true, 1'000}, {"copy", false, 1'000}};
  std::vector<KernelReport> kernels(2);
  kernels[0].name = "add<float>";
  kernels[0].symbol = "_Z3addIfEvPKT_";
  kernels[1].name = "mine";
  kernels[1].symbol = "copy";  // what moves data for torch keeps its name
  use_reported_names(timeline, kernels);
  CHECK(timeline[0].name == "add<float>");
  CHECK(timeline[1].name == "copy");
  add_time_shares(kernels, timeline);
  CHECK(kernels[0].gpu_time_share == Approx(0.5));
}

TEST_CASE("without a timeline nothing is known of shares") {
  CHECK_FALSE(own_share({}));
  std::vector<KernelReport> kernels(1);
  add_time_shares(kernels, {});
  CHECK(kernels[0].gpu_time_share == 0);
}
