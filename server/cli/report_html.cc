#include <algorithm>

#include "server/cli/report_formats.h"
#include "server/cli/report_markup.h"
#include "server/cli/report_plots.h"

namespace assay::server {
namespace {

/// The class that colours a row.
const char* style_of(Label label) {
  switch (label) {
    case Label::pass: return "pass";
    case Label::slow: return "slow";
    case Label::needs_gpu:
    case Label::missing: return "none";
    default: return "fail";
  }
}

constexpr const char* kStyle =
    ":root{--ink:#1a1a1a;--paper:#fff;--rule:#ddd;--soft:#eee;--a:#1d5fa8;--b:#b4530a;--c:#2d7d46;--d:#7b3fa0;--good:#106b21;--slow:#7a5200;--bad:#a3161b;"
    "--dim:#595959;--note:#fff4d6}"
    "@media(prefers-color-scheme:dark){:root{--ink:#e8e8e8;--paper:#161616;--rule:#3a3a3a;--soft:#2a2a2a;--a:#79b4f2;--b:#f0a35a;--c:#6fd886;--d:#cf9cf0;"
    "--good:#6fd886;--slow:#f0c05a;--bad:#ff8d8d;--dim:#b0b0b0;--note:#3a3010}}"
    "body{font:16px/1.5 system-ui,sans-serif;margin:1rem auto;max-width:78rem;padding:0 1rem;color:var(--ink);background:var(--paper)}"
    "h1{font-size:1.4rem;overflow-wrap:anywhere}.wide{overflow-x:auto}"
    "table{border-collapse:collapse;width:100%}th,td{text-align:left;padding:.3rem .6rem;border-bottom:1px solid var(--rule);vertical-align:top}"
    "td.n{text-align:right;font-variant-numeric:tabular-nums;white-space:nowrap}.pass .o{color:var(--good)}.slow .o{color:var(--slow)}.fail "
    ".o{color:var(--bad)}"
    ".none .o{color:var(--dim)}.note{background:var(--note);padding:.6rem .9rem;border-radius:4px}code{overflow-wrap:anywhere}"
    ".plots{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(100%,22rem),1fr));gap:1.2rem;margin:1rem 0}"
    "svg{width:100%;max-width:36rem;height:auto;font:13px system-ui,sans-serif}svg "
    "text{fill:var(--ink)}.head{font-weight:600;font-size:15px}.track{fill:var(--soft)}"
    ".bar{fill:var(--a)}.grid{stroke:var(--rule)}.whisker{stroke:var(--ink);stroke-width:1.5}.curve{fill:none;stroke-width:2}"
    ".s0{stroke:var(--a)}.s1{stroke:var(--b);stroke-dasharray:6 3}.s2{stroke:var(--c);stroke-dasharray:2 3}.s3{stroke:var(--d);stroke-dasharray:8 3 2 3}"
    ".dot{fill:var(--paper);stroke-dasharray:none}"
    "@media "
    "print{:root{--ink:#000;--paper:#fff;--rule:#bbb;--soft:#eee;--a:#1d5fa8;--b:#b4530a;--c:#2d7d46;--d:#7b3fa0;--note:#fff}body{font-size:10pt;margin:0}"
    ".wide{overflow:visible}.plots{grid-template-columns:1fr 1fr}svg,tr{break-inside:avoid}*{print-color-adjust:exact;-webkit-print-color-adjust:exact}}";

std::string name_of(const std::string& group) { return group.empty() || group == "0" ? "unknown" : group; }

std::string total(const std::string& name, const std::string& value) {
  return "<tr><th scope=\"row\">" + escaped(name) + "</th><td>" + escaped(value) + "</td></tr>\n";
}

std::string errors_in_words(const ReportTotals& totals) {
  std::string text;
  for (const auto& [group, types] : totals.errors) {
    for (const auto& [type, count] : types) text += (text.empty() ? "" : ", ") + group + " / " + type + ": " + std::to_string(count);
  }
  return text.empty() ? "none" : text;
}

Bar share_bar(const std::string& label, const metrics::Estimate& estimate) {
  const bool known = estimate.method != metrics::IntervalMethod::none;
  return {label, estimate.value, known ? std::optional(estimate.interval) : std::nullopt, number(100 * estimate.value, "%.1f %%")};
}

Bar ratio_bar(const std::string& label, const metrics::Estimate& estimate) {
  Bar bar = share_bar(label, estimate);
  bar.note = number(estimate.value, "%.3f");
  return bar;
}

std::string pass_plot(const std::string& title, const metrics::Summary* all, const Groups& groups, const std::string& prefix) {
  std::vector<Bar> bars;
  if (all != nullptr && all->pass_at_1) bars.push_back(share_bar("all", *all->pass_at_1));
  for (const auto& [name, summary] : groups) {
    if (summary.pass_at_1) bars.push_back(share_bar(prefix + name_of(name), *summary.pass_at_1));
  }
  return bars.empty() ? "" : bar_plot(title, bars, 1);
}

/// Nothing where nothing was timed.
std::string perf_plot(const Report& report) {
  std::vector<Bar> bars;
  double most = 1;
  const auto add = [&](const std::string& name, const metrics::Summary& summary) {
    if (!summary.perf_at_1) return;
    bars.push_back(ratio_bar(name, *summary.perf_at_1));
    most = std::max({most, bars.back().value, bars.back().interval ? bars.back().interval->high : 0});
  };
  add("all", report.all);
  for (const auto& [name, summary] : report.by_split) add(name_of(name), summary);
  return bars.empty() ? "" : bar_plot("Perf@1: oracle / submission latency", bars, most);
}

std::string pass_at_k_plot(const Report& report) {
  if (report.pass_at_k.size() < 2) return "";
  Line execution{"execution (right)", {}};
  Line call{"call (ran to its end)", {}};
  for (const metrics::PassPoint& point : report.pass_at_k) {
    const auto k = static_cast<double>(point.k);
    execution.points.push_back({k, point.execution.value, point.execution.interval});
    call.points.push_back({k, point.call.value, std::nullopt});
  }
  return line_plot("pass@k over " + std::to_string(report.samples.size()) + " samples", "k", {execution, call});
}

std::string fast_plot(const Report& report) {
  std::vector<Line> lines;
  const auto add = [&lines](const char* name, const std::vector<metrics::FastPoint>& curve) {
    if (curve.empty()) return;
    lines.push_back({name, {}});
    for (const metrics::FastPoint& point : curve) lines.back().points.push_back({point.p, point.share, std::nullopt});
  };
  add("over the oracle", report.all.fast_oracle);
  add("over PyTorch", report.all.fast_pytorch);
  return lines.empty() ? "" : line_plot("fast_p: right, and more than p times as fast", "p", lines, true);
}

std::string error_plot(const Report& report) {
  std::vector<Bar> bars;
  std::int64_t most = 1;
  for (const metrics::GroupCount& group : report.error_groups) {
    bars.push_back({std::string(group.group), static_cast<double>(group.total), std::nullopt, std::to_string(group.total)});
    most = std::max(most, group.total);
  }
  return bars.empty() ? "" : bar_plot("Errors, by TritonBench's groups", bars, static_cast<double>(most));
}

std::string plots(const Report& report) {
  const Groups shown_splits = report.by_split.size() > 1 ? report.by_split : Groups{};
  return "<div class=\"plots\">\n" + pass_plot("Pass@1", &report.all, shown_splits, "") + perf_plot(report) + pass_at_k_plot(report) + fast_plot(report) +
         error_plot(report) + pass_plot("Pass@1 by difficulty", nullptr, report.by_difficulty, "difficulty ") + "</div>\n";
}

std::string group_rows(const char* kind, const Groups& groups) {
  std::string rows;
  for (const auto& [name, summary] : groups) {
    rows += "<tr><td>" + std::string(kind) + escaped(name_of(name)) + "</td><td class=\"n\">" + std::to_string(summary.operators) + "</td>";
    for (const std::string& value : {share_with_interval(summary.pass_at_1), share_with_interval(summary.call_accuracy), ratio_with_interval(summary.perf_at_1),
                                     ratio_with_interval(summary.speed_up), share_with_interval(summary.efficiency)})
      rows += "<td class=\"n\">" + value + "</td>";
    rows += "</tr>\n";
  }
  return rows;
}

std::string group_table(const Report& report) {
  return "<h2>Groups</h2>\n<div class=\"wide\"><table><thead><tr><th>Group</th><th>Operators</th><th>Pass@1</th><th>Call accuracy</th><th>Perf@1</th>"
         "<th>Speed-up</th><th>GPU efficiency</th></tr></thead><tbody>\n" +
         group_rows("", {{"all", report.all}}) + group_rows("split ", report.by_split) + group_rows("difficulty ", report.by_difficulty) +
         group_rows("family ", report.by_family) +
         "</tbody></table></div>\n<p>In brackets: 95 % intervals over the operators of a group. A dash: nothing was timed.</p>\n";
}

std::string operator_table(const Report& report) {
  const bool similar = report.totals.similarity.has_value();
  std::string table =
      "<h2>Operators</h2>\n<div class=\"wide\"><table><thead><tr><th>Operator</th><th>Outcome</th><th>Error kind</th><th>Max error</th><th>Perf</th>";
  table += std::string(similar ? "<th>CodeBLEU</th>" : "") + "<th>Tier</th><th>Explanation</th></tr></thead><tbody>\n";
  for (const ReportRow& row : report.rows) {
    const std::string sample = report.samples.size() > 1 ? " #" + std::to_string(row.sample) : "";
    table += std::string("<tr class=\"") + style_of(row.label) + "\"><td>" + escaped(row.operator_name + sample) + "</td><td class=\"o\">" +
             escaped(to_string(row.label)) + "</td><td>" + escaped(row.error_kind == "none" ? "" : row.error_kind) + "</td><td class=\"n\">" +
             number(row.max_error, "%.2g") + "</td><td class=\"n\">" + number(row.perf, "%.3f") + "</td>";
    if (similar) table += "<td class=\"n\">" + number(row.similarity ? std::optional(row.similarity->codebleu) : std::nullopt, "%.3f") + "</td>";
    table += "<td>" + escaped(row.tier) + "</td><td>" + escaped(row.explanation) + "</td></tr>\n";
  }
  return table + "</tbody></table></div>\n";
}

std::string totals_table(const Report& report) {
  const ReportTotals& totals = report.totals;
  std::string rows =
      total("pass@1", number(100 * totals.pass_at_1, "%.1f %%") + " (" + std::to_string(totals.passed) + " of " + std::to_string(totals.attempts) + ")");
  rows += total("perf@1", totals.perf_at_1 ? number(totals.perf_at_1, "%.3f") : "none (" + totals.no_perf_reason + ")");
  rows += total("call accuracy", number(100 * totals.call_accuracy, "%.1f %%"));
  rows += total("execution accuracy", number(100 * totals.execution_accuracy, "%.1f %%"));
  if (totals.similarity) rows += total("CodeBLEU", ratio_with_interval(totals.similarity));
  rows += total("errors", errors_in_words(totals));
  rows += total("tokens", std::to_string(report.usage.input_tokens) + " in, " + std::to_string(report.usage.output_tokens) + " out");
  rows += total("cost", number(report.usage.cost_usd, "$%.4f"));
  if (totals.cost_per_solved) rows += total("cost per solved operator", number(totals.cost_per_solved, "$%.4f"));
  if (totals.cost_per_pass_rate) rows += total("cost / pass rate (TritonGym's $/Pass)", number(totals.cost_per_pass_rate, "$%.4f"));
  if (totals.cost_per_perf) rows += total("cost / perf@1 (TritonGym's $/Perf)", number(totals.cost_per_perf, "$%.4f"));
  rows += total("tool calls", std::to_string(totals.tool_calls));
  return "<h2>Totals</h2>\n<table><tbody>\n" + rows + "</tbody></table>\n";
}

}  // namespace

std::string report_as_html(const Report& report) {
  const std::string title = "Assay: " + escaped(report.run.request.agent) + ", " + escaped(report.run.request.model);
  std::string runs;
  for (const std::string& run : report.samples) runs += (runs.empty() ? "<code>" : ", <code>") + escaped(run) + "</code>";
  std::string devices;
  for (const std::string& device : report.devices) devices += (devices.empty() ? ", device " : ", ") + escaped(device);
  // Well-formed XML as well, so that any parser can check it. The policy keeps even a mistake here from loading or running anything.
  std::string page =
      "<!DOCTYPE html>\n<html lang=\"en\" xmlns=\"http://www.w3.org/1999/xhtml\"><head><meta charset=\"utf-8\"/><meta http-equiv=\"Content-Security-Policy\" "
      "content=\"default-src 'none'; style-src 'unsafe-inline'\"/><meta name=\"viewport\" content=\"width=device-width,initial-scale=1\"/><title>" +
      title + "</title><style>" + kStyle + "</style></head><body>\n<h1>" + title + "</h1>\n<p>" + (report.samples.size() > 1 ? "Runs " : "Run ") + runs +
      ", track " + std::string(tools::to_string(report.run.request.track)) + devices + ".</p>\n";
  if (report.scripted) page += "<p class=\"note\">No model answered: this shows that Assay works, says nothing about any model, and is never ranked.</p>\n";
  if (!report.totals.perf_at_1) page += "<p>No Perf@1: " + escaped(report.totals.no_perf_reason) + ".</p>\n";
  return page + plots(report) + totals_table(report) + group_table(report) + operator_table(report) + "</body></html>\n";
}

}  // namespace assay::server
