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

namespace assay::server {

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

std::string comparison_as_json(
    const Comparison&
        comparison);  // report_compare_forms.cc: {"format", "comparison": [a report each]}
std::string comparison_as_csv(const Comparison& comparison);   // report_compare_forms.cc: the lines
                                                               // of all reports under one head
std::string comparison_as_html(const Comparison& comparison);  // report_compare_html.cc

}  // namespace assay::server
