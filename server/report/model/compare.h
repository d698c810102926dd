// Several agents or models over the same operators, side by side: runs are gathered into one report
// per configuration (agent and model), whose runs are its samples. Nothing is ranked: they keep the
// order in which they were named, and intervals say how little a difference may mean. Pure
// functions.
//
//   Result<Comparison> comparison = make_comparison(scorecards, &catalog);
//   std::string page = comparison_as_html(*comparison);
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "metrics/estimate.h"
#include "server/report/model/rows.h"

namespace assay::report {

struct Comparison {
  std::vector<Report> reports;  // one per configuration, at least one
};

/// Whether make_report() takes these, rather than make_comparison().
bool is_one_configuration(const std::vector<tools::Scorecard>& runs);

/// invalid_argument when the runs differ in track or operators, or there is none: their means would
/// be over different things.
Result<Comparison> make_comparison(const std::vector<tools::Scorecard>& runs,
                                   const operators::Catalog* catalog);

/// How often an operator was solved.
struct Solved {
  std::int64_t right = 0, samples = 0;
  std::optional<double> perf;  // the best of the right ones
};

/// operator -> per configuration, in the order of the reports.
std::map<std::string, std::vector<Solved>> solved_by_operator(const Comparison& comparison);

/// US dollars per operator and sample, so that runs with different numbers of samples compare;
/// nothing where it is 0 or not known.
std::optional<double> cost_per_attempt(const Report& report);

/// By how much Pass@1 of `report` exceeds that of `base`: mean and interval of the differences per
/// operator, which is narrower than what their own intervals suggest. No interval where all
/// operators differ alike.
std::optional<metrics::Estimate> pass_difference(const Report& base, const Report& report);

/// One line of a comparison in the terminal.
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

}  // namespace assay::report
