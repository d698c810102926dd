// Defines the metrics of a report as a table with one entry for each metric. All code that writes
// rows, means or totals loops over this table. Therefore a new metric needs only one entry in
// metrics.cc, one line in docs/reference/report.md and one test. Pure functions.
//
//   for (const Metric& metric : report.metrics)
//     std::cout << metric.key << " " << value_text(metric.of(row), metric.unit) << "\n";
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "metrics/summary.h"
#include "server/report/model/format.h"

namespace assay::report {

struct ReportRow;

enum class Direction { higher_is_better, lower_is_better };

/// Says whether the terminal's table of operators has a column for the metric. The pages, CSV and
/// JSON contain every metric.
enum class OperatorTable { none, all };

struct Metric {
  std::string_view key;    // the metric's name in CSV and JSON
  std::string_view title;  // the title of the metric's column on the page
  Unit unit = Unit::ratio;
  Direction direction = Direction::higher_is_better;
  /// Returns the value of one attempt, or nothing if it was not measured.
  std::optional<double> (*of)(const ReportRow& row) = nullptr;
  /// If true, the tables of groups and the totals show the mean of the metric. The mean is taken
  /// over the operators with a right submission. It is absent if a right submission has no value.
  bool averaged = true;
  /// The name of the line that shows the metric in the totals of the text table. Empty: the name is
  /// the title.
  std::string_view line = "";
  std::string_view remark = "";  // the text after the number on this line
  OperatorTable table = OperatorTable::none;
  bool in_short_groups = false;  // true: the text table's short table of groups shows the metric
};

/// Returns all metrics, in the order of the CSV columns.
std::span<const Metric> all_metrics();

/// The key of the metric CodeBLEU. In JSON, the member "similarity" contains its value and the
/// parts of this value.
inline constexpr std::string_view kSimilarityKey = "codebleu";

/// Returns the metric with this key, or null if there is none.
const Metric* find_metric(std::span<const Metric> metrics, std::string_view key);

/// Returns the better of two values. If one value is absent, returns the other value.
std::optional<double> better_of(Direction direction, std::optional<double> one,
                                std::optional<double> other);

/// Returns the mean of a metric over a group, or nothing if the group has no mean.
std::optional<metrics::Estimate> mean_of(const metrics::Summary& summary, const Metric& metric);

/// Returns true if the code ran to its end, with a right or a wrong result. TritonBench's call
/// accuracy is the share of such submissions.
bool ran_to_its_end(const sandbox::Verdict& verdict);

/// Returns the speed-up over the baseline on the hidden timed cases, divided by the speed-up on the
/// public timed cases. Both are geometric means. Returns nothing unless both are known. `whole`
/// must be the full verdict from the store, because a public verdict has no times of hidden cases.
/// The value of a single submission must not be shown to clients
/// (docs/explanation/threat-model.md#the-generalisation-gap).
std::optional<double> generalisation_of(const sandbox::Verdict& whole);

/// The mean generalisation is shown only if at least this number of submissions have a value.
inline constexpr std::size_t kLeastGeneralised = 5;

/// Returns the geometric mean of the values. Returns nothing if there are fewer than
/// kLeastGeneralised values.
std::optional<double> mean_generalisation(const std::vector<double>& values);

/// Converts one attempt to the form that metrics::summarise() needs. The result contains the values
/// of all averaged metrics.
metrics::Sample sample_of(const ReportRow& row, std::span<const Metric> metrics);

}  // namespace assay::report
