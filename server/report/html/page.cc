#include "server/report/html/page.h"

namespace assay::report {
namespace {

// The style sheet. On paper, the page is always black on white.
constexpr std::string_view kStyle = R"css(
:root{--ink:#1a1a1a;--paper:#fff;--rule:#ddd;--soft:#ececec;--a:#1d5fa8;--b:#b4530a;--c:#2d7d46;--d:#7b3fa0;--good:#106b21;--slow:#7a5200;--bad:#a3161b;--dim:#595959;--note:#fff4d6}
@media screen and (prefers-color-scheme:dark){:root{--ink:#e8e8e8;--paper:#161616;--rule:#3a3a3a;--soft:#333;--a:#5a9be0;--b:#f0a35a;--c:#6fd886;--d:#cf9cf0;--good:#6fd886;--slow:#f0c05a;--bad:#ff8d8d;--dim:#b0b0b0;--note:#3a3010}}
*{box-sizing:border-box}
body{font:16px/1.5 system-ui,sans-serif;margin:0;color:var(--ink);background:var(--paper)}
main{max-width:78rem;margin:0 auto;padding:1rem}
h1{font-size:1.4rem;line-height:1.25;margin:.2rem 0 .6rem;overflow-wrap:anywhere}
h2{font-size:1.15rem;margin:2rem 0 .4rem}
p{max-width:50rem;overflow-wrap:anywhere}
.note{background:var(--note);padding:.6rem .9rem;border-radius:4px}
.key{display:grid;grid-template-columns:repeat(auto-fit,minmax(9.5rem,1fr));gap:1rem;margin:1.2rem 0}
.key div{border-top:3px solid var(--a);padding-top:.3rem}
.key dt{font-size:.9rem}.key dd{margin:0;font-size:1.5rem;line-height:1.3;font-variant-numeric:tabular-nums}
.key .remark{font-size:.82rem;color:var(--dim);line-height:1.35;overflow-wrap:anywhere}
.plots{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(100%,20rem),1fr));gap:2rem 2.4rem;margin:1.6rem 0;align-items:start}
figure{margin:0}figcaption{font-weight:600;margin-bottom:.5rem;line-height:1.3}
.empty{color:var(--dim);border:1px dashed var(--rule);border-radius:4px;padding:.6rem .9rem;margin:0}
svg{display:block;width:100%;max-width:34rem;height:auto;font:13px system-ui,sans-serif}
svg text{fill:var(--ink);font-variant-numeric:tabular-nums}
.track{fill:var(--soft)}.bar{fill:var(--a)}.grid{stroke:var(--rule)}.tick{stroke:var(--dim)}
.whisker{stroke:var(--ink);stroke-width:1.5}.reference{stroke:var(--ink);stroke-width:1.5;stroke-dasharray:3 2}
.curve{fill:none;stroke-width:2}.dot{fill:var(--paper);stroke-width:1.5}.dot.filled{fill:var(--a);stroke:var(--paper);stroke-width:1}
.s0,.s4{stroke:var(--a)}.s1,.s5{stroke:var(--b)}.s2,.s6{stroke:var(--c)}.s3,.s7{stroke:var(--d)}
.curve.s1{stroke-dasharray:6 3}.curve.s2{stroke-dasharray:2 3}.curve.s3{stroke-dasharray:8 3 2 3}
.curve.s4{stroke-dasharray:1 2}.curve.s5{stroke-dasharray:12 4}.curve.s6{stroke-dasharray:8 2}.curve.s7{stroke-dasharray:3 6}
.wide{overflow-x:auto}
table{border-collapse:collapse;width:100%}
th,td{text-align:left;padding:.35rem .7rem .35rem 0;border-bottom:1px solid var(--rule);vertical-align:top}
thead th{vertical-align:bottom;border-bottom-width:2px}
tbody th{font-weight:400}
td{overflow-wrap:break-word}
.n+:not(.n){padding-left:1rem}
.n{text-align:right;font-variant-numeric:tabular-nums}
.columns tbody th{min-width:8rem;max-width:20rem;overflow-wrap:break-word}
.under{margin:.4rem 0 0;font-size:.82rem;color:var(--dim)}
.facts{max-width:60rem}.facts th{width:12rem;color:var(--dim)}.facts td{overflow-wrap:anywhere}
.pass td:nth-child(2){color:var(--good)}.slow td:nth-child(2){color:var(--slow)}.fail td:nth-child(2){color:var(--bad)}.none td:nth-child(2){color:var(--dim)}
@media screen{.columns th:first-child{position:sticky;left:0;background:var(--paper);padding-right:1rem}}
@media screen and (max-width:44rem){
.columns tbody th{max-width:10.5rem;overflow-wrap:anywhere}.columns .n{white-space:nowrap}
.facts th,.facts td{display:block;width:auto;padding-right:0}.facts th{border:0;padding-bottom:0;font-size:.88rem}.facts td{padding-top:0}
.cards thead{position:absolute;width:1px;height:1px;overflow:hidden;clip-path:inset(50%)}
.cards,.cards tbody,.cards tr{display:block}
.cards tr{padding:.7rem 0;border-bottom:1px solid var(--rule)}
.cards th,.cards td{display:block;border:0;padding:0 0 .1rem;text-align:left;white-space:normal;overflow-wrap:anywhere}
.cards tbody th{font-weight:600}
.cards td::before{content:attr(data-name) ": ";color:var(--dim);font-size:.88rem}
.cards .blank{display:none}
}
@media print{
@page{margin:14mm}
body{font-size:9.5pt}main{max-width:none;padding:0}
.plots{grid-template-columns:1fr 1fr;gap:1.2rem 1.6rem}
figure,tr,.key{break-inside:avoid}h2{break-after:avoid}
.wide{overflow:visible}
table{font-size:8.5pt}th,td{padding-right:.5rem}td:last-child{overflow-wrap:anywhere}
.columns tbody th,.cards tbody th{overflow-wrap:anywhere;min-width:6.5rem;max-width:none}
*{print-color-adjust:exact;-webkit-print-color-adjust:exact}
}
)css";

/// Returns `content` in a box that scrolls if the content is too wide. tabindex makes it possible
/// to scroll with the keyboard.
std::string box(const std::string& id, const std::string& content) {
  return "<div class=\"wide\" role=\"region\" tabindex=\"0\" aria-labelledby=\"" + id + "\">" +
         content + "</div>\n";
}

std::string section(const std::string& id, const std::string& heading, const std::string& content) {
  return "<section>\n<h2 id=\"" + id + "\">" + escaped(heading) + "</h2>\n" + content +
         "</section>\n";
}

/// Replaces spaces by no-break spaces, so that a number and its unit stay on one line. The line can
/// break only before a bracket.
std::string held_together(const std::string& cell) {
  constexpr const char* kNoBreakSpace = "\xc2\xa0";
  std::string out;
  for (std::size_t i = 0; i < cell.size(); ++i) {
    const bool breaks = cell[i] != ' ' || (i + 1 < cell.size() && cell[i + 1] == '(');
    out += breaks ? std::string(1, cell[i]) : kNoBreakSpace;
  }
  return out;
}

/// Allows line breaks in a name only after its underscores.
std::string wrappable(const std::string& escaped_name) {
  std::string out;
  for (const char character : escaped_name)
    out += character == '_' ? std::string("_<wbr/>") : std::string(1, character);
  return out;
}

bool is_blank(const std::string& cell) { return cell.empty() || cell == kNoValue; }

/// Returns, for each column, true if at least one row has a value in this column.
std::vector<bool> used_columns(const TableHead& head, const std::vector<TableRow>& rows) {
  std::vector<bool> used(head.columns.size(), false);
  for (const TableRow& row : rows) {
    for (std::size_t i = 0; i < row.cells.size(); ++i) used[i] = used[i] || !is_blank(row.cells[i]);
  }
  return used;
}

std::string row_of(const TableHead& head, const TableRow& row, const std::vector<bool>& used) {
  std::string out = row.style.empty() ? "<tr>" : "<tr class=\"" + row.style + "\">";
  for (std::size_t i = 0; i < row.cells.size(); ++i) {
    if (!used[i]) continue;
    const Column& column = head.columns[i];
    if (i == 0) {
      out += "<th scope=\"row\">" + wrappable(escaped(row.cells[i])) + "</th>";
      continue;
    }
    // On a narrow screen, a table can become cards (Narrow::cards). A card shows the name of the
    // column before each cell, and omits blank cells.
    const std::string named =
        head.narrow == Narrow::cards ? " data-name=\"" + escaped(column.name) + "\"" : "";
    const bool blank = is_blank(row.cells[i]);
    const std::string style = std::string(column.numeric ? "n" : "") +
                              (blank ? (column.numeric ? " blank" : "blank") : "");
    out += "<td" + (style.empty() ? "" : " class=\"" + style + "\"") + named + ">" +
           escaped(column.numeric ? held_together(row.cells[i]) : row.cells[i]) + "</td>";
  }
  return out + "</tr>\n";
}

}  // namespace

std::string escaped(std::string_view text) {
  std::string out;
  for (const char character : text) {
    switch (character) {
      case '&': out += "&amp;"; break;
      case '<': out += "&lt;"; break;
      case '>': out += "&gt;"; break;
      case '"': out += "&quot;"; break;
      case '\'': out += "&#39;"; break;
      default:
        out += static_cast<unsigned char>(character) < 0x20 || character == 0x7f ? ' ' : character;
    }
  }
  return out;
}

std::string html_page(const std::string& title, const std::string& body) {
  // The Content-Security-Policy blocks scripts and the loading of other files, even if the escaping
  // of a text has a defect.
  return "<!DOCTYPE html>\n<html lang=\"en\" xmlns=\"http://www.w3.org/1999/xhtml\"><head><meta "
         "charset=\"utf-8\"/><meta "
         "http-equiv=\"Content-Security-Policy\" "
         "content=\"default-src 'none'; style-src 'unsafe-inline'\"/><meta name=\"viewport\" "
         "content=\"width=device-width,initial-scale=1\"/><meta "
         "name=\"color-scheme\" content=\"light dark\"/><title>" +
         escaped(title) + "</title><style>" + std::string(kStyle) +
         "</style></head><body><main>\n<h1>" + escaped(title) + "</h1>\n" + body +
         "</main></body></html>\n";
}

std::string html_table(const TableHead& head, const std::vector<TableRow>& rows,
                       const std::string& remark) {
  std::string table = std::string("<table class=\"") +
                      (head.narrow == Narrow::cards ? "cards" : "columns") +
                      "\" aria-labelledby=\"" + head.id + "\"><thead><tr>";
  const std::vector<bool> used = used_columns(head, rows);
  for (std::size_t i = 0; i < head.columns.size(); ++i) {
    const Column& column = head.columns[i];
    if (used[i])
      table += std::string("<th scope=\"col\"") + (column.numeric ? " class=\"n\"" : "") + ">" +
               escaped(column.name) + "</th>";
  }
  table += "</tr></thead><tbody>\n";
  for (const TableRow& row : rows) table += row_of(head, row, used);
  return section(head.id, head.heading,
                 box(head.id, table + "</tbody></table>") +
                     (remark.empty() ? "" : "<p>" + escaped(remark) + "</p>\n"));
}

std::string key_figures(const std::vector<KeyFigure>& figures) {
  std::string out = "<dl class=\"key\">\n";
  for (const KeyFigure& figure : figures) {
    out +=
        "<div><dt>" + escaped(figure.name) + "</dt><dd>" + escaped(figure.value) + "</dd>" +
        (figure.remark.empty() ? "" : "<dd class=\"remark\">" + escaped(figure.remark) + "</dd>") +
        "</div>\n";
  }
  return out + "</dl>\n";
}

std::string facts_table(const std::string& id, const std::string& heading,
                        const std::vector<std::pair<std::string, std::string>>& facts) {
  std::string table = "<table class=\"facts\" aria-labelledby=\"" + id + "\"><tbody>\n";
  for (const auto& [name, value] : facts)
    table +=
        "<tr><th scope=\"row\">" + escaped(name) + "</th><td>" + escaped(value) + "</td></tr>\n";
  return section(id, heading, table + "</tbody></table>\n");
}

}  // namespace assay::report
