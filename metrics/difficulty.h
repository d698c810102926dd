// Computes the overall row of a table by difficulty from its rows. Right ones and totals add up.
// The speed-up is a mean over the right operators, so each row has the weight of its right ones
// (GEAK, arXiv 2507.23194). Pure, thread-safe.
//
//   overall(std::vector<DifficultyRow>{{3, 3, 1.16}, {22, 27, 1.69}})
//       ->  {25, 30, 0.8333, 1.6264}
#pragma once

#include <cstdint>
#include <optional>
#include <span>

namespace assay::metrics {

struct DifficultyRow {
  std::int64_t right = 0;
  std::int64_t total = 0;
  std::optional<double> speed_up;  // mean over the right ones; absent if there are none
};

struct OverallRow {
  std::int64_t right = 0;
  std::int64_t total = 0;
  double execution_accuracy = 0;
  std::optional<double> speed_up;  // absent if a row with right ones has none
};

OverallRow overall(std::span<const DifficultyRow> rows);

}  // namespace assay::metrics
