// Writes a report, or a comparison of several, as one HTML page, and holds the frame and the tables
// of such a page. The page needs no other file: it has no script and loads nothing. It fits a
// phone, a desktop and paper, light or dark. It is also well-formed XML, so that any parser can
// check it. Pure functions.
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

/// Escapes text for the content and for the attributes of HTML and XML. Control characters become
/// spaces, because XML cannot carry them.
std::string escaped(std::string_view text);

/// Returns a whole page. `title` is text, `body` is markup.
std::string html_page(const std::string& title, const std::string& body);

struct Column {
  std::string name;
  bool numeric = false;  // aligned to the right, not wrapped
};

/// The layout on a narrow screen. scroll: the table scrolls in a box with a fixed first column.
/// cards: each row becomes a card.
enum class Narrow { scroll, cards };

struct TableHead {
  std::string id;       // names the section; unique on the page
  std::string heading;  // above the table
  std::vector<Column> columns;
  /// In a table of cards the second column is the outcome. The style of the row colours it.
  Narrow narrow = Narrow::scroll;
};

/// `cells` has one text for each column; the first is the header of the row. `style` is "pass",
/// "slow", "fail", "none" or "".
struct TableRow {
  std::string style;
  std::vector<std::string> cells;
};

/// Returns a section with a heading and a table. `remark` is text below the table. A column is left
/// out if it has "" or a dash in all rows.
std::string html_table(const TableHead& head, const std::vector<TableRow>& rows,
                       const std::string& remark = "");

/// One of the few figures at the top of the page.
struct KeyFigure {
  std::string name, value, remark;
};

std::string key_figures(const std::vector<KeyFigure>& figures);

/// Returns a section with a heading and a table of names and values. All of these are text.
std::string facts_table(const std::string& id, const std::string& heading,
                        const std::vector<std::pair<std::string, std::string>>& facts);

}  // namespace assay::report
