#include "metrics/difficulty.h"

namespace assay::metrics {

OverallRow overall(std::span<const DifficultyRow> rows) {
  OverallRow sum;
  double weighted = 0;
  bool known = true;
  for (const DifficultyRow& row : rows) {
    sum.right += row.right;
    sum.total += row.total;
    if (row.right == 0) continue;
    if (row.speed_up) weighted += *row.speed_up * static_cast<double>(row.right);
    known = known && row.speed_up.has_value();
  }
  if (sum.total > 0)
    sum.execution_accuracy = static_cast<double>(sum.right) / static_cast<double>(sum.total);
  if (known && sum.right > 0) sum.speed_up = weighted / static_cast<double>(sum.right);
  return sum;
}

}  // namespace assay::metrics
