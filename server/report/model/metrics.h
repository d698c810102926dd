// The metrics of a report as a table with one entry per metric. The rows of all forms, the means of
// groups and the lines of totals iterate over this table. A new metric is therefore one entry in
// metrics.cc, one line in docs/reference/report.md and one test. Pure functions.
//
//   for (const Metric& metric : report.metrics)
//     std::cout << metric.key << " " << value_text(metric.of(row), metric.unit) << "\n";
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "metrics/summary.h"
#include "server/report/model/format.h"

namespace assay::report {

struct ReportRow;

enum class Direction { higher_is_better, lower_is_better };

/// The tables of operators that have a column for the metric: none, only the table of the page, or
/// also the table of the terminal. CSV and JSON have every metric.
enum class OperatorTable { none, page, all };

struct Metric {
  std::string_view key;    // its name in CSV and JSON
  std::string_view title;  // the head of its column on the page
  Unit unit = Unit::ratio;
  Direction direction = Direction::higher_is_better;
  /// Returns the value of one attempt, or nothing if it was not measured.
  std::optional<double> (*of)(const ReportRow& row) = nullptr;
  /// If set, groups and totals show the mean over the operators with a right submission. The mean
  /// is absent if one of the right submissions has no value.
  bool averaged = true;
  std::string_view line = "";    // its line in the totals of the text table; empty: the title
  std::string_view remark = "";  // follows the number on this line
  OperatorTable table = OperatorTable::none;
  bool in_short_groups = false;  // the groups of the text table show it too
};

/// Returns all metrics, in the order of the columns of CSV.
std::span<const Metric> all_metrics();

/// The key of CodeBLEU. In JSON its value is in "similarity", together with its parts.
inline constexpr std::string_view kSimilarityKey = "codebleu";

/// Returns the metric of `key`, or null if there is none.
const Metric* find_metric(std::span<const Metric> metrics, std::string_view key);

/// Returns the better of two values. If one is absent, it returns the other one.
std::optional<double> better_of(Direction direction, std::optional<double> one,
                                std::optional<double> other);

/// Returns the mean of a metric over a group, if the group has one.
std::optional<metrics::Estimate> mean_of(const metrics::Summary& summary, const Metric& metric);

/// Returns true if the code ran to its end, right or wrong. TritonBench's call accuracy counts
/// these.
bool ran_to_its_end(const sandbox::Verdict& verdict);

/// Returns one submission for metrics::summarise(), with the values of all averaged metrics.
metrics::Sample sample_of(const ReportRow& row, std::span<const Metric> metrics);

}  // namespace assay::report
