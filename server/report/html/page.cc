#include "server/report/html/page.h"

#include "server/report/html/style.h"

namespace assay::server {
namespace {

/// A box that can be scrolled, also with the keyboard.
std::string box(const std::string& id, const std::string& content) {
  return "<div class=\"wide\" role=\"region\" tabindex=\"0\" aria-labelledby=\"" + id + "\">" +
         content + "</div>\n";
}

std::string section(const std::string& id, const std::string& heading, const std::string& content) {
  return "<section>\n<h2 id=\"" + id + "\">" + escaped(heading) + "</h2>\n" + content +
         "</section>\n";
}

/// A number, its unit and its interval are not torn apart: a line ends before a bracket at most.
std::string held_together(const std::string& cell) {
  constexpr const char* kNoBreakSpace = "\xc2\xa0";
  std::string out;
  for (std::size_t i = 0; i < cell.size(); ++i) {
    const bool breaks = cell[i] != ' ' || (i + 1 < cell.size() && cell[i + 1] == '(');
    out += breaks ? std::string(1, cell[i]) : kNoBreakSpace;
  }
  return out;
}

/// A name may be wrapped after its underscores, rather than anywhere.
std::string wrappable(const std::string& escaped_name) {
  std::string out;
  for (const char character : escaped_name)
    out += character == '_' ? std::string("_<wbr/>") : std::string(1, character);
  return out;
}

bool is_blank(const std::string& cell) { return cell.empty() || cell == "–"; }

/// Which columns say something in at least one row.
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
    // A card shows the column's name before each cell, and no cell that says nothing.
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
  // The policy keeps even a mistake in the escaping from loading or running anything.
  return "<!DOCTYPE html>\n<html lang=\"en\" xmlns=\"http://www.w3.org/1999/xhtml\"><head><meta "
         "charset=\"utf-8\"/><meta "
         "http-equiv=\"Content-Security-Policy\" "
         "content=\"default-src 'none'; style-src 'unsafe-inline'\"/><meta name=\"viewport\" "
         "content=\"width=device-width,initial-scale=1\"/><meta "
         "name=\"color-scheme\" content=\"light dark\"/><title>" +
         escaped(title) + "</title><style>" + std::string(report_style()) +
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

}  // namespace assay::server
