#include "tools/reference_source.h"

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

TEST_CASE("decorators, constants and multi-line signatures stay with what they belong to") {
  const std::string shown = shown_reference(
      "EPS = 1e-5\n\n\n# helps inputs\n@cached\ndef draw(\n    case,\n) -> int:\n    return 1\n\n\n@twice\ndef reference(\n    x,\n    y,\n):\n    return x + "
      "EPS\n");
  CHECK(shown == "EPS = 1e-5\n\n\n@twice\ndef reference(\n    x,\n    y,\n):\n    return x + EPS\n");
  CHECK(shown_reference("").empty());
  CHECK(shown_reference("def reference(): pass") == "def reference(): pass");
}

TEST_CASE("a constant that only the inputs use is not shown, nor the comment above it") {
  const std::string shown = shown_reference(
      "# distribution -> beta\nSETTINGS = {\n    1: 2,\n}\nSCALE: float = 2.0\nLIMIT = 3\n\ndef inputs(case):\n    return SETTINGS[case]\n\ndef reference(x):\n    return x * SCALE\n");
  CHECK(shown == "SCALE: float = 2.0\ndef reference(x):\n    return x * SCALE\n");
}

TEST_CASE("the operators of this repository keep their references whole") {
  const auto catalog = operators::Catalog::load(std::string(ASSAY_SOURCE_DIR) + "/operators");
  REQUIRE(catalog);
  for (const auto& op : catalog->all()) {
    INFO(op.name);
    const std::string shown = shown_reference(op.reference_source);
    CHECK(shown.find("def reference(") != std::string::npos);
    CHECK(shown.find("def inputs(") == std::string::npos);
    CHECK(shown.find("distribution") == std::string::npos);
  }
}

}  // namespace assay::tools
