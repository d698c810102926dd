#include "reference_agents/core/edits.h"

#include <string>

#include "tests/catch.h"

using namespace assay;
using namespace assay::agents;

namespace {

const std::string kCode =
    "def f(x):\n    y = x\n    return y\n\ndef g(x):\n    y = x\n    return -y\n";

std::string edit(const std::string& search, const std::string& replace) {
  return "<<<<<<< SEARCH\n" + search + "=======\n" + replace + ">>>>>>> REPLACE\n";
}

/// The changed code, or "error: ...".
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
        std::string::npos);  // indentation counts, and lines are whole
  CHECK(apply(edit("def g(x):\n", "def h(x):\n") + edit("def g(x):\n", "def k(x):\n"))
            .find("error: edit 2 matches nothing") == 0);
}

TEST_CASE("malformed edits are errors") {
  CHECK(apply("no edit here").find("holds no edit") != std::string::npos);
  CHECK(apply("").find("holds no edit") != std::string::npos);
  CHECK(apply("<<<<<<< SEARCH\ndef g(x):\n").find("does not end") != std::string::npos);
  CHECK(apply("<<<<<<< SEARCH\ndef g(x):\n>>>>>>> REPLACE\n").find("malformed") !=
        std::string::npos);
  CHECK(apply("<<<<<<< SEARCH\n<<<<<<< SEARCH\n").find("malformed") != std::string::npos);
  CHECK(apply(">>>>>>> REPLACE\n").find("malformed") != std::string::npos);
  CHECK(apply(edit("", "x\n")).find("searches for nothing") != std::string::npos);
  CHECK(apply(edit("\n  \n", "x\n")).find("searches for nothing") != std::string::npos);
}
