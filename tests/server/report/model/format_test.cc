
#include "server/report/model/format.h"

#include "base/text.h"
#include "tests/catch.h"

using namespace assay;
using namespace assay::report;

TEST_CASE("numbers and their intervals") {
  CHECK(number(std::nullopt, "%.1f") == "–");
  CHECK(number(1.25, "%.1f") == "1.2");
  CHECK(with_interval(std::nullopt, Unit::share) == "–");
  CHECK(with_interval(metrics::Estimate{0.5, 4, {0.25, 0.75}, metrics::IntervalMethod::bootstrap},
                      Unit::share) == "50.0 % (25 to 75)");
  CHECK(with_interval(metrics::Estimate{0.5, 1, {}, metrics::IntervalMethod::none}, Unit::ratio) ==
        "0.500");
}

TEST_CASE("dollars") {
  CHECK(dollars(0.0821) == "$0.0821");
  CHECK(dollars(12.345) == "$12.35");
}

using namespace assay::report;

TEST_CASE("columns are as wide as their widest cell, in characters") {
  CHECK(text_table({{"a", "bb"}, {"–––", "x"}}) == "a    bb\n---  --\n–––  x\n");
  CHECK(text_table({{"a", "b"}, {"x\nrun_forged", "\xe2\x80\xae"}}) ==
        "a             b\n------------  --------\nx run_forged  \\u{202e}\n");
  CHECK(padded("–", 3) == "–  ");
  CHECK(padded("long", 2) == "long");
}

TEST_CASE("printable lines") {
  CHECK(printable_line(" a\nb\t \x1b[1m c\n", 99) == "a b \\x1b[1m c");
  CHECK(printable_line("caf\xc3\xa9", 99) == "caf\xc3\xa9");
  CHECK(printable_line("abcdef", 4) == "abc…");
  CHECK(printable_line("abcd", 4) == "abcd");
  CHECK(width_of("caf\xc3\xa9…") == 5);
}

TEST_CASE("a printable line has the same escapes as every other line of untrusted text") {
  for (const char* text : {"a\xe2\x80\xae"
                           "b",  // bidirectional
                           "a\xe2\x80\x8b"
                           "b",  // invisible
                           "a\xe2\x80\xa8"
                           "b",  // a separator of lines
                           "\xc2\x9b"
                           "31m",
                           "\xff\xfe"
                           "ab",
                           "\x7f", "a\rb"}) {
    CHECK(printable_line(text, 99) == escape_line(text));
    CHECK(printable_line(printable_line(text, 99), 99) == printable_line(text, 99));
  }
  const std::string cut = printable_line("abcde\xe2\x80\xae", 10);
  CHECK(cut == "abcde\\u{2…");
}
