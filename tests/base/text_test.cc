#include "base/text.h"

#include <cstdint>
#include <limits>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "tests/catch.h"

namespace assay {

TEST_CASE("text: join") {
  CHECK(join(std::vector<std::string>{}).empty());
  CHECK(join(std::vector<std::string>{"a"}) == "a");
  CHECK(join(std::set<std::string>{"b", "a"}, "/") == "a/b");
  CHECK(join(std::vector<std::string>{"", "", "c"}, ",") == ",,c");
  struct Entry {
    std::string name;
  };
  CHECK(join(std::vector<Entry>{{"a"}, {"b"}}, ", ", &Entry::name) == "a, b");
  CHECK(join(std::vector<int>{1, 2}, " ", [](int n) { return std::to_string(n); }) == "1 2");
}

TEST_CASE("text: split leaves empty parts out") {
  CHECK(split("", ",").empty());
  CHECK(split(",,", ",").empty());
  CHECK(split(" a,b ,, c", " ,") == std::vector<std::string>{"a", "b", "c"});
}

TEST_CASE("text: grouped digits") {
  CHECK(grouped(0) == "0");
  CHECK(grouped(999) == "999");
  CHECK(grouped(1000) == "1,000");
  CHECK(grouped(-123) == "-123");
  CHECK(grouped(std::int64_t{-1234567}) == "-1,234,567");
  CHECK(grouped(std::numeric_limits<std::uint64_t>::max()) == "18,446,744,073,709,551,615");
}

TEST_CASE("text: a word of a shell is quoted where it needs it") {
  CHECK(shell_word("/usr/bin/python3") == "/usr/bin/python3");
  CHECK(shell_word("") == "''");
  CHECK(shell_word("a b") == "'a b'");
  CHECK(shell_word("it's $HOME") == "'it'\\''s $HOME'");
}

TEST_CASE("escape: control characters, bidi characters and invalid UTF-8 become visible text") {
  CHECK(escape_text("plain\n\ttext é 漢 🙂") == "plain\n\ttext é 漢 🙂");
  CHECK(escape_text("\x1b[31mred\x1b[0m") == "\\x1b[31mred\\x1b[0m");
  CHECK(escape_text(std::string("a\0b", 3)) == "a\\x00b");
  CHECK(escape_text("a\rb") == "a\\x0db");
  CHECK(escape_text("a\r\nb") == "a\nb");
  CHECK(escape_text("\x7f") == "\\x7f");
  CHECK(escape_text("\xc2\x9b") == "\\x9b");  // U+009B, which begins a terminal's control sequence
  CHECK(escape_text("a\xe2\x80\xae"
                    "b") == "a\\u{202e}b");  // right-to-left override
  CHECK(escape_text("a\xe2\x80\x8b"
                    "b") == "a\\u{200b}b");  // zero width
  CHECK(escape_text("\xe2\x81\xa6") == "\\u{2066}");
}

TEST_CASE("escape: invisible characters become visible text") {
  const std::vector<std::pair<std::string, std::string>> invisible = {
      {"\xc2\xad", "00ad"},          {"\xcd\x8f", "034f"},          {"\xd8\x9c", "061c"},
      {"\xe1\x85\x9f", "115f"},      {"\xe1\x85\xa0", "1160"},      {"\xe1\x9e\xb4", "17b4"},
      {"\xe1\x9e\xb5", "17b5"},      {"\xe1\xa0\x8b", "180b"},      {"\xe1\xa0\x8f", "180f"},
      {"\xe2\x81\xa5", "2065"},      {"\xe2\x81\xaa", "206a"},      {"\xe2\x81\xaf", "206f"},
      {"\xe3\x85\xa4", "3164"},      {"\xef\xb8\x80", "fe00"},      {"\xef\xb8\x8f", "fe0f"},
      {"\xef\xbe\xa0", "ffa0"},      {"\xef\xbf\xb0", "fff0"},      {"\xf0\x9b\xb2\xa0", "1bca0"},
      {"\xf0\x9b\xb2\xa3", "1bca3"}, {"\xf0\x9d\x85\xb3", "1d173"}, {"\xf0\x9d\x85\xba", "1d17a"},
      {"\xf3\xa0\x80\x80", "e0000"}, {"\xf3\xa0\x84\x80", "e0100"}, {"\xf3\xa0\xbf\xbf", "e0fff"}};
  for (const auto& [bytes, code] : invisible) CHECK(escape_text(bytes) == "\\u{" + code + "}");
  CHECK(escape_text("\xe1\x85\x9e \xe3\x85\xa3 \xf0\x9d\x85\xb2") ==
        "\xe1\x85\x9e \xe3\x85\xa3 \xf0\x9d\x85\xb2");  // the visible neighbours
}

TEST_CASE("a text for one line has no line breaks and no tabs") {
  CHECK(escape_line("k\nnext: wiped\r\n\tx") == "k next: wiped  x");
  CHECK(escape_line("a\xe2\x80\xa8"
                    "b\x0b") == "a\\u{2028}b\\x0b");
  CHECK(is_one_line("softmax<float, 1024> größe"));
  CHECK(is_one_line(""));
  for (const char* broken :
       {"a\n", "a\tb", "a\r", "\x1b", "\x7f", "\xc2\x85", "\xe2\x80\xa8", "\xe2\x80\xa9", "\xff"})
    CHECK_FALSE(is_one_line(broken));
}

TEST_CASE("each line of a quoted text has a mark, also after a cut") {
  CHECK(quote_lines("").empty());
  CHECK(quote_lines("a") == "| a\n");
  CHECK(quote_lines("a\nnext: b\n") == "| a\n| next: b\n");
  CHECK(quote_lines("\n\na") == "| \n| \n| a\n");
  std::string text = "head\n";
  for (int i = 0; i < 200; ++i) text += quote_lines("next: forged");
  text += "next: real";
  for (std::size_t most = 80; most < 400; ++most) {
    const std::string cut = cut_lines(text, most);
    CHECK(cut.size() <= most);
    CHECK(cut.find("\nnext: forged") == std::string::npos);
    CHECK(cut.ends_with("next: real"));
  }
  CHECK(cut_lines(std::string(500, 'x'), 100).ends_with(" bytes cut ...]\n"));
}

TEST_CASE("a quoted text has its marks within its limit") {
  CHECK(quote_lines("a\nb", 100) == "| a\n| b\n");
  std::string lines = "HEAD\n";
  for (int i = 0; i < 200; ++i) lines += "next: forged" + std::string(i % 5, 'x') + "\n";
  for (const std::string& text :
       {lines + "TAIL", "HEAD" + std::string(5'000, '\n') + "TAIL",
        "HEAD" + std::string(5'000, 'x') + "TAIL", "HEAD" + std::string(5'000, '|') + "TAIL"}) {
    for (std::size_t most = 80; most < 400; ++most) {
      const std::string cut = quote_lines(text, most);
      CHECK(cut.size() <= most);
      CHECK(cut.starts_with("| HEAD"));
      CHECK(cut.ends_with("TAIL\n"));
      for (const std::string& line : split(cut, "\n"))
        CHECK((line.starts_with("|") || line.ends_with(" bytes cut ...]")));
    }
  }
}

TEST_CASE("escape: every malformed UTF-8 byte is shown") {
  CHECK(escape_text("\xff\xfe") == "\\xff\\xfe");
  CHECK(escape_text("\xc0\xaf") == "\\xc0\\xaf");                    // overlong
  CHECK(escape_text("\xed\xa0\x80") == "\\xed\\xa0\\x80");           // surrogate
  CHECK(escape_text("\xf4\x90\x80\x80") == "\\xf4\\x90\\x80\\x80");  // past the end
  CHECK(escape_text("\xe2\x82") == "\\xe2\\x82");                    // cut off
  CHECK_FALSE(is_utf8("\xe2\x82"));
  CHECK(is_utf8("€"));
}

TEST_CASE("escape: escaping twice changes nothing") {
  std::string all;
  for (int i = 0; i < 256; ++i) all += static_cast<char>(i);
  const std::string once = escape_text(all + "\xe2\x80\xae");
  CHECK(escape_text(once) == once);
  CHECK(is_utf8(once));
}

TEST_CASE("cutting keeps head and tail, says how much is gone, and never splits a character") {
  CHECK(cut_middle("short", 100) == "short");
  const std::string text = "HEAD" + std::string(1000, 'x') + "TAIL";
  const std::string cut = cut_middle(text, 200);
  CHECK(cut.size() <= 200);
  CHECK(cut.starts_with("HEAD"));
  CHECK(cut.ends_with("TAIL"));
  CHECK(cut.find("bytes cut") != std::string::npos);
  std::string wide;
  for (int i = 0; i < 500; ++i) wide += "漢";
  for (std::size_t size = 3; size < 300; ++size) {
    INFO(size);
    CHECK(is_utf8(cut_middle(wide, size)));
    CHECK(cut_middle(wide, size).size() <= size);
    CHECK(is_utf8(cut_end(wide, size)));
    CHECK(cut_end(wide, size).size() <= size);
  }
}

}  // namespace assay
