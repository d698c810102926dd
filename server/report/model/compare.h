// Compares several agents or models over the same operators. A configuration is an agent with a
// model on a track, judged by one suite. The runs of one configuration become the samples of one
// report. There is no ranking: configurations are listed in the order of the command, and each
// value has an interval, because a difference may be due to chance. Pure functions.
//
//   Result<Comparison> comparison = make_comparison(scorecards, &catalog);
//   std::string text = comparison_as_json(*comparison);  // declared in server/report/text/forms.h
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

/// Returns true if all runs have the same configuration. make_report() combines such runs if they
/// also have the same operators.
bool is_one_configuration(const std::vector<tools::Scorecard>& runs);

/// Returns true if the reports have different tracks. Then each form of the comparison says which
/// track each configuration had, because tracks have different budgets.
bool has_several_tracks(const Comparison& comparison);

/// Returns true if different suites judged the reports. Then each form of the comparison says which
/// suite judged each configuration.
bool has_several_suites(const Comparison& comparison);

/// The sentence that a comparison of different tracks shows.
inline constexpr const char* kTracksNote =
    "Tracks differ: each has a budget of its own, so compare across tracks with care.";

/// Returns true if both runs have the same operators, in any order.
bool have_same_operators(const tools::RunInfo& one, const tools::RunInfo& other);

/// Groups the runs by configuration. Errors: invalid_argument if there are no runs, or if the runs
/// differ in their operators or in the baseline of Perf. The means of such runs are not comparable.
Result<Comparison> make_comparison(const std::vector<tools::Scorecard>& runs,
                                   const operators::Catalog* catalog);

/// Returns Pass@1 of `report` minus Pass@1 of `base`, as the mean of the differences for each
/// operator, with a confidence interval. The interval of such paired differences is narrower than
/// the intervals of the two reports suggest. If the difference is the same for all operators, the
/// returned estimate has no interval. Returns nothing if no operator is in both reports.
std::optional<metrics::Estimate> pass_difference(const Report& base, const Report& report);

/// One row of a comparison in the terminal.
struct ComparisonRow {
  std::string agent, model;
  std::size_t finished = 0, attempts = 0;
  std::optional<metrics::Estimate> pass_at_1, perf_at_1;
  tools::Usage usage;
  bool no_model = false;
  std::int64_t right = 0;
  std::string track = {};
  std::optional<Baseline> baseline = Baseline::oracle;  // with what perf_at_1 compares
  std::string suite = {};  // the text of the suite; empty if it is not known to the caller
};

/// Returns the row for a report. Its `finished` is the number of attempts that ended with a
/// submission. A bench overwrites `finished` with the number of all attempts that ended, because
/// only the bench knows this number.
ComparisonRow comparison_of(const Report& report);
/// Returns the row for a run on a server of which only the scorecard is available. The row is
/// computed from `suite`, the outcomes in the scorecard.
ComparisonRow comparison_of(const std::string& agent, const std::string& model,
                            const std::vector<metrics::OperatorSamples>& suite,
                            const tools::Usage& usage);

}  // namespace assay::report
