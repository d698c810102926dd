#include "server/commands/check_words.h"

#include "tests/catch.h"

using assay::server::function_in_file;
using assay::server::read_short_axes;

TEST_CASE("a file and its function") {
  const auto found = function_in_file("a:b/my.py:swish", "the kernel");
  REQUIRE(found);
  CHECK(found->file == "a:b/my.py");
  CHECK(found->function == "swish");
  for (const char* text : {"my.py", ":swish", "my.py:", "my.py:1x"}) {
    const auto wrong = function_in_file(text, "the kernel");
    REQUIRE(!wrong);
    CHECK(wrong.error().message ==
          "the kernel '" + std::string(text) + "' is not FILE:FUNCTION, such as my.py:swish");
  }
}

TEST_CASE("options that name an axis") {
  std::map<std::string, std::vector<std::int64_t>> axes;
  REQUIRE(read_short_axes({"--n", "1000,100003", "--m=7"}, axes));
  CHECK(axes["n"] == std::vector<std::int64_t>{1000, 100003});
  CHECK(axes["m"] == std::vector<std::int64_t>{7});
  CHECK(read_short_axes({"word"}, axes).error().message == "unexpected argument 'word'");
  CHECK(read_short_axes({"--n"}, axes).error().message.find("an axis has values") !=
        std::string::npos);
  CHECK(!read_short_axes({"--n", "many"}, axes));
}
