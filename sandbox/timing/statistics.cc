#include "sandbox/timing/statistics.h"

#include <algorithm>

namespace assay::sandbox {
namespace {

template <class Counts>
double total(const std::vector<OperationTime>& timeline, Counts counts) {
  double ns = 0;
  for (const OperationTime& one : timeline) ns += counts(one) ? one.ns : 0;
  return ns;
}

double everything(const std::vector<OperationTime>& timeline) {
  return total(timeline, [](const OperationTime&) { return true; });
}

}  // namespace

std::optional<double> own_share(const std::vector<OperationTime>& timeline) {
  const double all = everything(timeline);
  if (all <= 0) return std::nullopt;
  return total(timeline, [](const OperationTime& one) { return one.submitted; }) / all;
}

void use_reported_names(std::vector<OperationTime>& timeline,
                        const std::vector<KernelReport>& kernels) {
  for (OperationTime& one : timeline) {
    const auto kernel = std::find_if(
        kernels.begin(), kernels.end(),
        [&](const KernelReport& report) { return one.submitted && report.symbol == one.name; });
    if (kernel != kernels.end()) one.name = kernel->name;
  }
}

void add_time_shares(std::vector<KernelReport>& kernels,
                     const std::vector<OperationTime>& timeline) {
  const double all = everything(timeline);
  if (all <= 0) return;
  for (KernelReport& kernel : kernels) {
    kernel.gpu_time_share =
        total(timeline,
              [&](const OperationTime& one) { return one.submitted && one.name == kernel.name; }) /
        all;
  }
}

}  // namespace assay::sandbox
