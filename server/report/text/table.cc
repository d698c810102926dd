#include <algorithm>
#include <array>
#include <vector>

#include "base/text.h"
#include "metrics/measures.h"
#include "server/report/model/format.h"
#include "server/report/text/forms.h"

namespace assay::report {
namespace {

constexpr std::size_t kExplanationColumn = 90;
constexpr std::size_t kNameColumn = 20;
constexpr std::size_t kNameCharacters = 60;
constexpr std::array kShownThresholds = {0.0, 1.0, 2.0};  // of fast_p

std::string percent(double ratio) { return number(100 * ratio, "%.1f %%"); }

std::string or_dash(const std::string& error_kind) {
  return error_kind.empty() || error_kind == "none" ? "-" : error_kind;
}

std::string error_lines(const ReportTotals& totals) {
  std::string text;
  for (const auto& [group, types] : totals.errors) {
    text += "    " + group + ":";
    for (const auto& [type, count] : types) text += " " + type + " " + std::to_string(count) + ",";
    text.back() = '\n';
  }
  return text;
}

std::string stage_lines(const std::vector<StageCount>& stages) {
  std::vector<TextRow> lines = {{"died at", "attempts"}};
  for (const metrics::GroupCount& group : stages.front().groups)
    lines.front().push_back(std::string(group.group));
  lines.front().push_back("no error");
  for (const StageCount& stage : stages) {
    TextRow line = {std::string(stage.stage), std::to_string(stage.attempts)};
    for (const metrics::GroupCount& group : stage.groups)
      line.push_back(std::to_string(group.total));
    line.push_back(std::to_string(stage.without_error));
    lines.push_back(line);
  }
  const bool any = std::any_of(stages.begin(), stages.end(),
                               [](const StageCount& stage) { return stage.attempts > 0; });
  return any ? "\n" + text_table(lines) +
                   "(the first of these that no version of an attempt passed)\n"
             : "";
}

/// Returns the short table of groups. It has no rows for families, or for a grouping that has only
/// one group. It has no columns of times if nothing was timed. The other forms of the report show
/// all of these.
std::string group_lines(const Report& report) {
  const bool timed = report.all.perf_at_1.has_value();
  std::vector<TextRow> lines = {{"group", "operators", "pass@1", "call accuracy"}};
  if (timed) lines.front().push_back("perf@1");
  for (const Metric& metric : report.metrics) {
    if (timed && metric.in_short_groups) lines.front().push_back(lower_case(metric.title));
  }
  const auto add = [&](const char* kind, const Groups& groups) {
    if (groups.size() < 2) return;
    for (const auto& [name, summary] : groups) {
      lines.push_back({kind + (name.empty() || name == "0" ? std::string("unknown") : name),
                       std::to_string(summary.operators),
                       with_interval(summary.pass_at_1, Unit::share),
                       with_interval(summary.call_accuracy, Unit::share)});
      if (timed) lines.back().push_back(with_interval(summary.perf_at_1, Unit::ratio));
      for (const Metric& metric : report.metrics) {
        if (timed && metric.in_short_groups)
          lines.back().push_back(with_interval(mean_of(summary, metric), metric.unit));
      }
    }
  };
  add("split ", report.by_split);
  add("suite ", report.by_suite);
  add("difficulty ", report.by_difficulty);
  return lines.size() == 1
             ? ""
             : "\n" + text_table(lines) + "(95 % intervals over the operators of a group)\n";
}

std::string pass_lines(const Report& report) {
  if (report.pass_at_k.size() < 2) return "";
  std::string text;
  for (const metrics::PassPoint& point : report.pass_at_k) {
    if (point.k == 1) continue;  // pass@1 has its own line
    const std::string name = "pass@" + std::to_string(point.k);
    text += padded(name, kNameColumn) + with_interval(point.execution, Unit::share) + ", call " +
            with_interval(point.call, Unit::share) + "\n";
  }
  return text;
}

std::string metric_line(const Metric& metric, const std::optional<metrics::Estimate>& mean) {
  if (!mean) return "";
  const std::string name(metric.line.empty() ? metric.title : metric.line);
  return padded(name, kNameColumn) + with_interval(mean, metric.unit) +
         (metric.remark.empty() ? "" : "  (" + std::string(metric.remark) + ")") + "\n";
}

/// Returns a line with fast_p for the thresholds that KernelBench shows, or "" without times.
std::string fast_line(const std::string& name, const std::vector<metrics::FastPoint>& curve) {
  std::string text;
  for (const metrics::FastPoint& point : curve) {
    const bool is_shown = std::find(kShownThresholds.begin(), kShownThresholds.end(), point.p) !=
                          kShownThresholds.end();
    if (is_shown)
      text += (text.empty() ? "" : ", ") + ("fast_" + number(point.p, "%g")) + " " +
              percent(point.share);
  }
  return text.empty() ? "" : padded(name, kNameColumn) + text + "\n";
}

/// Returns what the benchmark of an imported suite counts: files, which may have several operators.
std::string file_lines(const Report& report) {
  if (!report.files) return "";
  const metrics::Summary& files = *report.files;
  return padded("by file", kNameColumn) + "execution accuracy " +
         with_interval(files.pass_at_1, Unit::share) + ", call accuracy " +
         with_interval(files.call_accuracy, Unit::share) + "  (" + std::to_string(files.operators) +
         " files of the benchmark; an answer must be right for all operators of its file)\n";
}

std::string metric_lines(const Report& report) {
  std::string text;
  for (const Metric& metric : report.metrics) {
    if (metric.averaged) text += metric_line(metric, mean_of(report.all, metric));
  }
  const Metric* similarity = find_metric(report.metrics, kSimilarityKey);
  return similarity == nullptr ? text : text + metric_line(*similarity, report.totals.similarity);
}

}  // namespace

std::string report_as_table(const Report& report) {
  const ReportTotals& totals = report.totals;
  std::string text =
      (report.samples.size() > 1 ? std::to_string(report.samples.size()) + " samples, runs "
                                 : "Run ") +
      join(report.samples) + ": agent " + printable_line(report.run.request.agent, 60) +
      ", model " + printable_line(report.run.request.model, 80) + ", track " +
      std::string(tools::to_string(report.run.request.track)) +
      (report.devices.empty() ? "" : ", device " + join(report.devices, ", ", escape_line)) +
      ", suite " + join(report.suites, ", ", text_of) + "\n";
  const bool suites = report.suites.size() > 1;
  if (suites) text += std::string(kSuitesNote) + "\n";
  if (report.scripted()) text += std::string(note_of(report.answered_by)) + "\n";
  for (const auto& [run, provenance] : report.imported)
    text +=
        "the verdicts of " + run + " were imported from a file: " + escape_line(provenance) + "\n";
  std::vector<const Metric*> columns;
  std::vector<TextRow> lines = {{"operator", "outcome", "error kind"}};
  for (const Metric& metric : report.metrics) {
    if (metric.table != OperatorTable::all) continue;
    columns.push_back(&metric);
    lines.front().push_back(lower_case(metric.title));
  }
  if (suites) lines.front().emplace_back("suite");
  lines.front().insert(lines.front().end(), {"tier", "explanation"});
  for (const ReportRow& row : report.rows) {
    const std::string sample = report.samples.size() > 1 ? " #" + std::to_string(row.sample) : "";
    TextRow line = {escape_line(row.operator_name) + sample, std::string(to_string(row.label)),
                    or_dash(row.error_kind)};
    for (const Metric* metric : columns) {
      const std::optional<double> value = metric->of(row);
      line.push_back(value ? value_text(value, metric->unit) : "-");
    }
    if (suites) line.push_back(text_of(row.suite_id));
    line.insert(line.end(), {row.tier.empty() ? "-" : row.tier,
                             printable_line(row.explanation, kExplanationColumn)});
    lines.push_back(std::move(line));
  }
  text += "\n" + text_table(lines) + "\n";
  text += "pass@1              " + percent(totals.pass_at_1) + "  (" +
          std::to_string(totals.passed) + " of " + std::to_string(totals.attempts) +
          "; 95 % interval " + percent(totals.pass_at_1_interval[0]) + " to " +
          percent(totals.pass_at_1_interval[1]) + ")\n";
  text += "perf@1              " +
          (totals.perf_at_1 ? number(*totals.perf_at_1, "%.3f") + over_text(report.all.baseline)
                            : "none (" + totals.no_perf_reason + ")") +
          "\n";
  if (totals.generalisation)
    text += "generalisation      " + number(*totals.generalisation, "%.3f") +
            "  (speed-up on hidden cases over that on public ones)\n";
  text += pass_lines(report);
  text += metric_lines(report);
  text += fast_line("fast_p over PyTorch", report.all.fast_pytorch);
  text += fast_line("fast_p over compile", report.all.fast_torch_compile);
  text += "call accuracy       " + percent(totals.call_accuracy) +
          "  (ran to its end, right or wrong)\n";
  text += "execution accuracy  " + percent(totals.execution_accuracy) +
          "  (and the results are right)\n";
  text += file_lines(report);
  text += "outcomes           ";
  for (const auto& [label, count] : totals.labels)
    text += " " + std::to_string(count) + " " + label + ";";
  text.back() = '\n';
  if (!totals.errors.empty()) text += "errors, by TritonBench's groups\n" + error_lines(totals);
  text += "tokens              " + std::to_string(report.usage.input_tokens) + " in, " +
          std::to_string(report.usage.output_tokens) + " out" +
          (report.scripted() ? " " + std::string(kNoModelMark) : "") + "\n";
  text +=
      "cost                " + cost_in_words(report.usage, report.scripted()) +
      (totals.cost_per_solved ? number(*totals.cost_per_solved, " ($%.4f per solved operator")
                              : "") +
      (totals.cost_per_pass_rate ? number(*totals.cost_per_pass_rate, ", $%.4f over the pass rate)")
                                 : "") +
      "\n";
  text += "tool calls          " + std::to_string(totals.tool_calls) + "\n";
  text += "sandbox time        " + number(totals.sandbox_ms / 1000, "%.1f s") +
          "  (sum over the graded jobs, without their time in the queue)\n";
  text += stage_lines(report.stages) + group_lines(report);
  if (!report.missing_layers.empty())
    text += "sandbox layers that this machine lacks: " +
            join(report.missing_layers, ", ", escape_line) + "\n";
  return text;
}

std::string comparison_table(const std::vector<ComparisonRow>& rows) {
  const bool tracks = std::any_of(rows.begin(), rows.end(), [&](const ComparisonRow& row) {
    return row.track != rows.front().track;
  });
  const bool suites = std::any_of(rows.begin(), rows.end(), [&](const ComparisonRow& row) {
    return row.suite != rows.front().suite;
  });
  std::vector<TextRow> table = {
      {"agent", "model", "finished", "pass@1", "perf@1", "cost", "cost per solved"}};
  if (tracks) table.front().insert(table.front().begin() + 2, "track");
  if (suites) table.front().insert(table.front().begin() + 2, "suite");
  for (const ComparisonRow& row : rows) {
    const std::optional<double> per_solved =
        row.usage.cost_known && !row.no_model
            ? metrics::cost_per_solved(row.usage.cost_usd, row.right)
            : std::nullopt;
    table.push_back(
        {printable_line(row.agent, kNameCharacters), printable_line(row.model, kNameCharacters),
         std::to_string(row.finished) + " of " + std::to_string(row.attempts),
         with_interval(row.pass_at_1, Unit::share), with_interval(row.perf_at_1, Unit::ratio),
         cost_in_words(row.usage, row.no_model), number(per_solved, "$%.4f")});
    if (tracks) table.back().insert(table.back().begin() + 2, row.track);
    if (suites) table.back().insert(table.back().begin() + 2, row.suite);
  }
  const auto over_eager = std::find_if(rows.begin(), rows.end(), [](const ComparisonRow& row) {
    return row.perf_at_1 && row.baseline != Baseline::oracle;
  });
  const bool complete = std::all_of(rows.begin(), rows.end(), [](const ComparisonRow& row) {
    return row.finished == row.attempts;
  });
  return "Comparison (95 % intervals over the operators; not ranked)\n" + text_table(table) +
         (tracks ? std::string(kTracksNote) + "\n" : "") +
         (over_eager != rows.end() ? "perf@1" + over_text(over_eager->baseline) + "\n" : "") +
         (suites ? std::string(kSuitesNote) + "\n" : "") +
         (complete ? ""
                   : "Attempts that are not finished count as failures: finish a bench with "
                     "--resume, then compare.\n");
}

}  // namespace assay::report
