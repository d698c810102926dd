// The metrics of a report as a table: one entry for each. The rows of all forms, the means of
// groups and the lines of totals iterate over it, so that a new metric is one entry in metrics.cc,
// a line in docs/report.md and a test. Pure functions.
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

/// The tables of operators that have a column for the metric: none, that of the page, or that of
/// the terminal as well. CSV and JSON have every metric.
enum class OperatorTable { none, page, all };

struct Metric {
  std::string_view key;    // its name in CSV and JSON
  std::string_view title;  // the head of its column on the page
  Unit unit = Unit::ratio;
  Direction direction = Direction::higher_is_better;
  /// The value of one attempt; nothing where it was not measured.
  std::optional<double> (*of)(const ReportRow& row) = nullptr;
  /// Averaged: groups and totals show the mean over operators with a right submission. The mean is
  /// absent where one of the right submissions has no value.
  bool averaged = true;
  std::string_view line = "";    // its line in the totals of the text table; empty: the title
  std::string_view remark = "";  // what this line says behind the number
  OperatorTable table = OperatorTable::none;
  bool in_short_groups = false;  // the groups of the text table show it as well
};

/// All metrics, in the order of the columns of CSV.
std::span<const Metric> all_metrics();

/// CodeBLEU. In JSON it stands in "similarity", with the parts that it is made of.
inline constexpr std::string_view kSimilarityKey = "codebleu";

/// Null where `metrics` has no such key.
const Metric* find_metric(std::span<const Metric> metrics, std::string_view key);

/// The better one of two values; the other one where one of them is absent.
std::optional<double> better_of(Direction direction, std::optional<double> one,
                                std::optional<double> other);

/// The mean of a metric in a group, where it has one.
std::optional<metrics::Estimate> mean_of(const metrics::Summary& summary, const Metric& metric);

/// Whether the code ran to its end, right or wrong: TritonBench's call accuracy.
bool ran_to_its_end(const sandbox::Verdict& verdict);

/// One submission for metrics::summarise(), with the values of all averaged metrics.
metrics::Sample sample_of(const ReportRow& row, std::span<const Metric> metrics);

}  // namespace assay::report
