// A page that stands alone: for a phone, a desktop and paper, light or dark; no script, nothing
// from outside. Well-formed XML as well, so that any parser can check it. Pure functions.
//
//   html_page("Assay: one_shot", "<p>...</p>" + html_table({"groups", "Groups", {{"Group"},
//   {"Pass@1", true}}}, {{"", {"all", "50.0 %"}}}))
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace assay::report {

/// Escapes text for the content and for the attributes of HTML and XML. Control characters become
/// spaces, because XML cannot carry them.
std::string escaped(std::string_view text);

/// `title` is text, `body` is markup.
std::string html_page(const std::string& title, const std::string& body);

struct Column {
  std::string name;
  bool numeric = false;  // aligned to the right, not wrapped
};

/// On a narrow screen a table scrolls in its own box, the first column staying, or its rows become
/// cards.
enum class Narrow { scroll, cards };

struct TableHead {
  std::string id;       // of the section; unique on the page
  std::string heading;  // what stands above it and names it
  std::vector<Column> columns;
  Narrow narrow =
      Narrow::scroll;  // of a table of cards the second column is an outcome, which `style` colours
};

/// `cells` are text, one per column; the first is the row's header. `style`: "pass", "slow",
/// "fail", "none" or "".
struct TableRow {
  std::string style;
  std::vector<std::string> cells;
};

/// A section with a heading; `remark`, text under the table, may be empty. Columns that say nothing
/// ("" or a dash) in any row are left out.
std::string html_table(const TableHead& head, const std::vector<TableRow>& rows,
                       const std::string& remark = "");

/// A name and its value, one of the few that a reader came for.
struct KeyFigure {
  std::string name, value, remark;
};

std::string key_figures(const std::vector<KeyFigure>& figures);

/// Names and values, all text, in a section with a heading.
std::string facts_table(const std::string& id, const std::string& heading,
                        const std::vector<std::pair<std::string, std::string>>& facts);

}  // namespace assay::report
