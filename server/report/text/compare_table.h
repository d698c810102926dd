// The table that sets pairs of agent and model side by side, at the end of a bench and in `assay
// report`. It ranks nothing: rows keep the order of the command, and intervals say how little a
// difference may mean. Pure functions.
//
//   comparison_table({comparison_of(report_a), comparison_of(report_b)})
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "metrics/estimate.h"
#include "metrics/summary.h"
#include "server/report/model/rows.h"

namespace assay::server {

struct ComparisonRow {
  std::string agent, model;
  std::size_t finished = 0, attempts = 0;
  std::optional<metrics::Estimate> pass_at_1, perf_at_1;
  tools::Usage usage;
  bool no_model = false;
  std::int64_t right = 0;
};

/// Finished is what was submitted; a bench knows better and sets it.
ComparisonRow comparison_of(const Report& report);
/// Where there is no store to read: from what a foreign server says of each operator's samples.
ComparisonRow comparison_of(const std::string& agent, const std::string& model,
                            const std::vector<metrics::OperatorSamples>& suite,
                            const tools::Usage& usage);

std::string comparison_table(const std::vector<ComparisonRow>& rows);

}  // namespace assay::server
