// Writes a report, or a comparison of several reports, as one HTML page. Also writes the frame and
// the tables of such a page. The page needs no other file: it has no script and loads nothing. It
// is readable on a phone, on a desktop and on paper, in light and dark mode. It is well-formed XML,
// so that any parser can check it. Pure functions.
//
//   std::string page = report_as_html(report);
//   std::string small = html_page(
//       "Assay: one_shot", html_table({"groups", "Groups", {{"Group"}, {"Pass@1", true}}},
//                                     {{"", {"all", "50.0 %"}}}));
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "server/report/model/compare.h"
#include "server/report/model/rows.h"

namespace assay::report {

std::string report_as_html(const Report& report);
std::string comparison_as_html(const Comparison& comparison);

/// Escapes text for the contents and the attributes of HTML and XML. Control characters become
/// spaces, because XML does not allow them.
std::string escaped(std::string_view text);

/// Returns a complete page. `title` is plain text, `body` is markup.
std::string html_page(const std::string& title, const std::string& body);

struct Column {
  std::string name;
  bool numeric = false;  // right-aligned, not wrapped
};

/// The layout of a table on a narrow screen. `scroll`: the table scrolls sideways, and its first
/// column stays visible. `cards`: each row becomes a card, with one line for each cell.
enum class Narrow { scroll, cards };

struct TableHead {
  std::string id;       // the id of the section; unique on the page
  std::string heading;  // the text above the table
  std::vector<Column> columns;
  /// The layout on a narrow screen. If it is `cards`, the second column must be the outcome,
  /// because a row's style colours the second column.
  Narrow narrow = Narrow::scroll;
};

/// One row of a table. `cells` has one text for each column. The first cell is the row's header.
/// `style` is the outcome that determines the row's colour: "pass", "slow", "fail" or "none". ""
/// means no colour.
struct TableRow {
  std::string style;
  std::vector<std::string> cells;
};

/// Returns a section with a heading and a table. `remark` is the text below the table. A column is
/// omitted if each of its cells is "" or a dash (kNoValue).
std::string html_table(const TableHead& head, const std::vector<TableRow>& rows,
                       const std::string& remark = "");

/// One of the important numbers that the page shows at its top.
struct KeyFigure {
  std::string name, value, remark;
};

std::string key_figures(const std::vector<KeyFigure>& figures);

/// Returns a section with a heading and a table of names and values. All arguments are plain text.
std::string facts_table(const std::string& id, const std::string& heading,
                        const std::vector<std::pair<std::string, std::string>>& facts);

}  // namespace assay::report
