// What devices can do at best, by the figures that their makers publish: the roofs of a roofline
// for a target that is not here.
//
//   const std::optional<Peaks> peaks = peaks_of("cuda:90");
//   peaks->flops_per_s("float16 tensor");        // 989.5e12
//
// Dense rates, without structured sparsity, at the highest clock. Pure functions.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace assay::sandbox {

struct Peaks {
  std::string_view target;
  std::string_view device_name;
  double bytes_per_s = 0;  // device memory
  double float64 = 0, float64_tensor = 0, float32 = 0, tf32_tensor = 0, float16_tensor = 0,
         float8_tensor = 0, int8_tensor = 0;  // operations/s; 0: it has no such unit
  std::string_view source;

  /// The rate of a unit by its name (Roofline::unit); 0 for one that the device lacks.
  double flops_per_s(std::string_view unit) const;
};

/// Nothing for a target without public figures here.
std::optional<Peaks> peaks_of(std::string_view target);

/// The targets that peaks_of() knows.
std::vector<std::string> targets_with_peaks();

}  // namespace assay::sandbox
