#include "tools/answer/reference_source.h"

#include "tests/catch.h"
#include "tests/tools/fixture.h"

namespace assay::tools {

TEST_CASE("an agent sees the reference and what it calls, not how the judge draws inputs") {
  const std::string shown = shown_reference(testing::reference_py());
  CHECK(shown.find("def reference(x: Tensor, y: Tensor)") != std::string::npos);
  CHECK(shown.find("def _sum") != std::string::npos);
  CHECK(shown.find("import torch") != std::string::npos);
  for (const char* secret : {"def inputs", "_cancelling", "def cost", "harness"}) {
    INFO(secret);
    CHECK(shown.find(secret) == std::string::npos);
  }
}

TEST_CASE("decorators, constants and multi-line signatures stay with their definitions") {
  const std::string shown = shown_reference(
      "EPS = 1e-5\n\n\n# helps inputs\n@cached\ndef draw(\n    case,\n) -> int:\n    return "
      "1\n\n\n@twice\ndef reference(\n    x,\n    y,\n):\n    return x + "
      "EPS\n");
  CHECK(shown ==
        "EPS = 1e-5\n\n\n@twice\ndef reference(\n    x,\n    y,\n):\n    return x + EPS\n");
  CHECK(shown_reference("").empty());
  CHECK(shown_reference("def reference(): pass") == "def reference(): pass");
}

TEST_CASE("a constant that only the inputs use is not shown, nor the comment above it") {
  const std::string shown = shown_reference(
      "# distribution -> beta\nSETTINGS = {\n    1: 2,\n}\nSCALE: float = 2.0\nLIMIT = 3\n\ndef "
      "inputs(case):\n    return SETTINGS[case]\n\ndef "
      "reference(x):\n    return x * SCALE\n");
  CHECK(shown == "SCALE: float = 2.0\ndef reference(x):\n    return x * SCALE\n");
}

TEST_CASE("in little room the reference is whole; each function that it calls is shown or named") {
  const std::string source =
      "import torch\n\nSIDE = 128\n\n\ndef reference(x):\n    return near(x)\n\n\ndef near(x):\n   "
      " return far(x) / SIDE\n\n\ndef far(x):\n    return x\n";
  const ReferenceWithin all = reference_within(source, 1'000);
  CHECK(all.text == shown_reference(source));
  CHECK(all.left_out.empty());
  const std::string near =
      "def reference(x):\n    return near(x)\n\n\ndef near(x):\n    return far(x) / SIDE\n";
  const ReferenceWithin some = reference_within(source, near.size());
  CHECK(some.text == near);
  CHECK(some.left_out == std::vector<std::string>{"SIDE", "far"});
  const std::string bare = "def reference(x):\n    return near(x)\n";
  const ReferenceWithin alone = reference_within(source, bare.size());
  CHECK(alone.text == bare);
  CHECK(alone.left_out == std::vector<std::string>{"near", "SIDE", "far"});
  CHECK(reference_within(source, bare.size() - 1).text.empty());

  const std::string long_helper =
      bare + "\n\ndef near(x):\n    a = x + 1\n    b = a + 1\n    return b\n";
  const ReferenceWithin begun = reference_within(long_helper, long_helper.size() - 10);
  CHECK(begun.text == bare + "\ndef near(x):\n    a = x + 1\n    # ...\n");
  CHECK(begun.left_out == std::vector<std::string>{"near"});
  CHECK(begun.text.size() <= long_helper.size() - 10);
  const ReferenceWithin without = reference_within("import torch\n\n\n" + bare, bare.size());
  CHECK(without.text == bare);
  CHECK(without.left_out.empty());
}

TEST_CASE("the operators of this repository keep their references whole") {
  const auto catalog = operators::Catalog::load(std::string(ASSAY_SOURCE_DIR) + "/operators");
  REQUIRE(catalog);
  for (const auto& op : catalog->all()) {
    INFO(op.name);
    const std::string shown = shown_reference(op.reference_source);
    CHECK(shown.find("def reference(") != std::string::npos);
    for (const char* hook : {"def inputs(", "def mutants(", "def cost("})
      CHECK(shown.find(hook) == std::string::npos);
    CHECK(shown.find("distribution") == std::string::npos);
  }
}

}  // namespace assay::tools
