#include "base/text_edits.h"

#include <string>
#include <vector>

#include "tests/catch.h"

using namespace assay;

namespace {

const std::string kCode =
    "def f(x):\n    y = x\n    return y\n\ndef g(x):\n    y = x\n    return -y\n";

std::string edit(const std::string& search, const std::string& replace) {
  return "<<<<<<< SEARCH\n" + search + "=======\n" + replace + ">>>>>>> REPLACE\n";
}

/// Applies the edits of a reply. Returns the changed code, or "error: ...".
std::string apply(const std::string& reply) {
  const auto edits = parse_edits(reply);
  if (!edits) return "error: " + edits.error().message;
  const auto changed = apply_edits(kCode, *edits);
  return changed ? *changed : "error: " + changed.error().message;
}

}  // namespace

TEST_CASE("edits apply in order, in prose and fences") {
  const std::string reply = "I rename.\n=======\n```\n" +
                            edit("    return -y\n", "    return -z\n") + "```\nand\n" +
                            edit("    y = x\n    return -z\n", "    z = x\n    return -z\n");
  CHECK(apply(reply) ==
        "def f(x):\n    y = x\n    return y\n\ndef g(x):\n    z = x\n    return -z\n");
  CHECK(apply(edit("    return -y\n", "")) ==
        "def f(x):\n    y = x\n    return y\n\ndef g(x):\n    y = x\n");
  CHECK(
      apply(
          "<<<<<<< SEARCH  \r\n    return -y\r\n=======\r\n    return y + 1\r\n>>>>>>> REPLACE\r\n")
          .find("return y + 1\n") != std::string::npos);
}

TEST_CASE("an edit that matches nothing or several places is an error, never a guess") {
  CHECK(apply(edit("    y = X\n", "    y = 2\n")).find("error: edit 1 matches nothing") == 0);
  CHECK(apply(edit("    y = x\n", "    y = 2\n"))
            .find("error: edit 1 matches 2 places (lines 2 and 6)") == 0);
  CHECK(apply(edit("return -y\n", "return y\n")).find("matches nothing") !=
        std::string::npos);  // an edit must match whole lines with their indentation
  CHECK(apply(edit("def g(x):\n", "def h(x):\n") + edit("def g(x):\n", "def k(x):\n"))
            .find("error: edit 2 matches nothing") == 0);
}

TEST_CASE("an edit that matches nothing names the place that comes closest") {
  const auto why = [](const std::string& search) { return apply(edit(search, "z\n")); };
  CHECK(why("    y = X\n") ==
        "error: edit 1 matches nothing: no line is '    y = X'; quote whole lines with their "
        "indentation");
  CHECK(why("return -y\n").find("line 7 is '    return -y', not 'return -y' (the spaces differ)") !=
        std::string::npos);
  // Two lines are "y = x"; behind the second one, more of the edit is right.
  CHECK(why("    y = x\n    return -y\n    end\n")
            .find("the text ends after line 7, before '    end'") != std::string::npos);
  CHECK(why("    y = x\n    return +y\n").find("line 3 is '    return y', not '    return +y'") !=
        std::string::npos);
  CHECK(why("\n\ndef g(x):\n").find("the blank lines before line 5 differ") != std::string::npos);
}

TEST_CASE("places that overlap are several places") {
  const std::string text = "a\na\nb\na\na\na\n";
  const auto found = [&](const std::vector<std::string>& wanted) {
    const auto changed = apply_edits(text, {{wanted, {"c"}}});
    return changed ? *changed : changed.error().message;
  };
  CHECK(found({"a", "a", "a"}) == "a\na\nb\nc\n");
  CHECK(found({"a", "a", "b", "a", "a"}) == "c\na\n");
  CHECK(found({"a", "a"}).find("edit 1 matches 3 places (lines 1 and 4)") == 0);
}

TEST_CASE("a search of many equal lines takes linear time") {
  // Every place of the text begins like the search, so a comparison at each place would take hours.
  std::string text;
  for (int i = 0; i < 500'000; ++i) text += "x\n";
  std::vector<std::string> wanted(250'000, "x");
  wanted.back() = "y";
  const auto changed = apply_edits(text, {{wanted, {}}});
  REQUIRE_FALSE(changed);
  CHECK(changed.error().message.find("line 250000 is 'x', not 'y'") != std::string::npos);
}

TEST_CASE("malformed edits are errors") {
  CHECK(apply("no edit here").find("there is no edit; an edit is a line") != std::string::npos);
  CHECK(apply("").find("there is no edit; an edit is a line") != std::string::npos);
  CHECK(apply("<<<<<<< SEARCH\ndef g(x):\n").find("does not end") != std::string::npos);
  CHECK(apply("<<<<<<< SEARCH\ndef g(x):\n>>>>>>> REPLACE\n").find("malformed") !=
        std::string::npos);
  CHECK(apply("<<<<<<< SEARCH\n<<<<<<< SEARCH\n").find("malformed") != std::string::npos);
  CHECK(apply(">>>>>>> REPLACE\n").find("malformed") != std::string::npos);
  CHECK(apply(edit("", "x\n")).find("searches for nothing") != std::string::npos);
  CHECK(apply(edit("\n  \n", "x\n")).find("searches for nothing") != std::string::npos);
}
