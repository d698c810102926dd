#include <cstdio>

#include "server/cli/report_formats.h"

namespace assay::server {
namespace {

std::string escaped(std::string_view text) {
  std::string out;
  for (const char character : text) {
    switch (character) {
      case '&': out += "&amp;"; break;
      case '<': out += "&lt;"; break;
      case '>': out += "&gt;"; break;
      case '"': out += "&quot;"; break;
      case '\'': out += "&#39;"; break;
      default: out += character;
    }
  }
  return out;
}

std::string number(const std::optional<double>& value, const char* format) {
  if (!value) return "–";
  char text[64];
  std::snprintf(text, sizeof(text), format, *value);
  return text;
}

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
    "body{font:15px/1.5 system-ui,sans-serif;margin:2rem auto;max-width:78rem;padding:0 1rem;color:#1a1a1a;background:#fff}"
    "table{border-collapse:collapse;width:100%}th,td{text-align:left;padding:.35rem .6rem;border-bottom:1px solid #ddd;vertical-align:top}"
    "td.n{text-align:right;font-variant-numeric:tabular-nums}.pass td:nth-child(2){color:#106b21}.slow td:nth-child(2){color:#7a5200}"
    ".fail td:nth-child(2){color:#a3161b}.none td:nth-child(2){color:#595959}.note{background:#fff4d6;padding:.6rem .9rem;border-radius:4px}"
    "@media(prefers-color-scheme:dark){body{color:#e8e8e8;background:#161616}th,td{border-color:#3a3a3a}.pass td:nth-child(2){color:#6fd886}"
    ".slow td:nth-child(2){color:#f0c05a}.fail td:nth-child(2){color:#ff8d8d}.none td:nth-child(2){color:#b0b0b0}.note{background:#3a3010}}";

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

}  // namespace

std::string report_as_html(const Report& report) {
  const ReportTotals& totals = report.totals;
  const std::string title = "Assay: " + escaped(report.run.request.agent) + ", " + escaped(report.run.request.model);
  std::string page =
      "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><meta name=\"viewport\" content=\"width=device-width,initial-scale=1\"><title>" +
      title + "</title><style>" + kStyle + "</style></head><body>\n<h1>" + title + "</h1>\n<p>Run <code>" + escaped(report.run.handle) + "</code>, track " +
      std::string(tools::to_string(report.run.request.track)) + ".</p>\n";
  if (report.scripted) page += "<p class=\"note\">The answers were scripted (no model): this says nothing about any model and is never ranked.</p>\n";
  page +=
      "<table><thead><tr><th>Operator</th><th>Outcome</th><th>Error kind</th><th>Max "
      "error</th><th>Perf</th><th>Tier</th><th>Explanation</th></tr></thead><tbody>\n";
  for (const ReportRow& row : report.rows) {
    page += std::string("<tr class=\"") + style_of(row.label) + "\"><td>" + escaped(row.operator_name) + "</td><td>" + std::string(to_string(row.label)) +
            "</td><td>" + escaped(row.error_kind == "none" ? "" : row.error_kind) + "</td><td class=\"n\">" + number(row.max_error, "%.2g") +
            "</td><td class=\"n\">" + number(row.perf, "%.3f") + "</td><td>" + escaped(row.tier) + "</td><td>" + escaped(row.explanation) + "</td></tr>\n";
  }
  page += "</tbody></table>\n<h2>Totals</h2>\n<table><tbody>\n";
  page += total("pass@1", number(100 * totals.pass_at_1, "%.1f %%") + " (" + std::to_string(totals.passed) + " of " + std::to_string(totals.operators) + ")");
  page += total("perf@1", totals.perf_at_1 ? number(totals.perf_at_1, "%.3f") : "none (" + totals.no_perf_reason + ")");
  page += total("call accuracy", number(100 * totals.call_accuracy, "%.1f %%"));
  page += total("execution accuracy", number(100 * totals.execution_accuracy, "%.1f %%"));
  page += total("errors", errors_in_words(totals));
  page += total("tokens", std::to_string(report.usage.input_tokens) + " in, " + std::to_string(report.usage.output_tokens) + " out");
  page += total("cost", number(report.usage.cost_usd, "$%.4f"));
  page += total("tool calls", std::to_string(totals.tool_calls));
  return page + "</tbody></table>\n</body></html>\n";
}

}  // namespace assay::server
