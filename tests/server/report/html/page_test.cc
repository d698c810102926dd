#include "server/report/html/page.h"

#include "tests/catch.h"

using namespace assay;
using namespace assay::report;

TEST_CASE("escaping, for text and attributes") {
  CHECK(escaped("<a href=\"x\" title='y'>&") ==
        "&lt;a href=&quot;x&quot; title=&#39;y&#39;&gt;&amp;");
  CHECK(escaped(std::string("a\x1b\0b\nc", 6)) == "a  b c");
  CHECK(escaped("caf\xc3\xa9") == "caf\xc3\xa9");
}

TEST_CASE("a table is named, its headers have scopes, its cells are escaped") {
  const std::string table =
      html_table({"t", "A & B", {{"Name"}, {"Share", true}}}, {{"", {"<b>", "50 % (1 to 99)"}}});
  CHECK(table.find("<h2 id=\"t\">A &amp; B</h2>") != std::string::npos);
  CHECK(table.find("aria-labelledby=\"t\"") != std::string::npos);
  CHECK(table.find("<th scope=\"col\" class=\"n\">Share</th>") != std::string::npos);
  CHECK(table.find("<th scope=\"row\">&lt;b&gt;</th>") != std::string::npos);
  CHECK(table.find("<td class=\"n\">50\xc2\xa0% (1\xc2\xa0to\xc2\xa0"
                   "99)</td>") != std::string::npos);
}

TEST_CASE("names are wrapped after underscores") {
  CHECK(html_table({"t", "T", {{"Name"}}}, {{"", {"a_b&"}}}).find("a_<wbr/>b&amp;</th>") !=
        std::string::npos);
}

TEST_CASE("blank columns are left out, single blank cells stay") {
  const std::string table = html_table({"t", "T", {{"Name"}, {"Perf", true}, {"Tier"}}},
                                       {{"", {"a", "–", ""}}, {"", {"b", "1", "–"}}});
  CHECK(table.find("Tier") == std::string::npos);
  CHECK(table.find("<td class=\"n blank\">–</td>") != std::string::npos);
}

TEST_CASE("cards name each cell") {
  const std::string table =
      html_table({"t", "T", {{"Name"}, {"Out\"come"}}, Narrow::cards}, {{"pass", {"a", "right"}}});
  CHECK(table.find("<tr class=\"pass\">") != std::string::npos);
  CHECK(table.find("data-name=\"Out&quot;come\"") != std::string::npos);
}

TEST_CASE("a page escapes its title") {
  const std::string page = html_page("<script>", "<p>body</p>");
  CHECK(page.find("<title>&lt;script&gt;</title>") != std::string::npos);
  CHECK(page.find("<h1>&lt;script&gt;</h1>") != std::string::npos);
  CHECK(page.find("<p>body</p>") != std::string::npos);
}
