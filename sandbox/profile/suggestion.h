// The one thing to change next, by rules in the order in which they pay: what wastes most comes
// first.
//
//   std::string advice = suggestion({.finding = finding, .roofline = roof, .kernels = kernels,
//   .code = code});
//
// Every rule names the number that made it speak. Pure function.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sandbox/profile/diagnosis.h"

namespace assay::sandbox {

struct Circumstances {
  Finding finding;
  Roofline roofline;
  std::vector<KernelReport> kernels;
  std::vector<CodeDigest> code;
  std::vector<KernelCounters> counters;
  std::string target, dtype;
  std::int64_t multiprocessors = 0;
  std::int64_t unaligned_row_bytes =
      0;  // of a tensor whose rows do not all begin at a multiple of 16 bytes; 0: all do
  double tensor_flops_per_s =
      0;  // what matrix instructions of the case's type would reach; 0: unknown
};

std::string suggestion(const Circumstances& at);

}  // namespace assay::sandbox
