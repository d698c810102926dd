#include "operators/examples.h"

#include <string>

#include "tests/catch.h"
#include "tests/tools/fixture.h"

using assay::operators::load_examples;
using assay::testing::TemporaryFolder;
using assay::testing::write_file;

namespace {
const std::string kCheck = "\n\n\ndef check():\n    assert secret\n";
}

TEST_CASE("the repository's examples load, each without the test of it") {
  const auto examples = load_examples(std::string(ASSAY_SOURCE_DIR) + "/operators/examples");
  INFO((examples ? std::string() : examples.error().message));
  REQUIRE(examples);
  CHECK(examples->size() >= 100);
  for (const auto& example : *examples) {
    INFO(example.name);
    CHECK(example.title.size() >= 20);
    CHECK(example.source.find("jit") != std::string::npos);
    CHECK(example.source.find("def check(") == std::string::npos);
    CHECK(example.source.ends_with('\n'));
  }
}

TEST_CASE("only Python counts, by name; the title is the docstring's first line") {
  const TemporaryFolder folder;
  write_file(folder.path() / "b.py",
             "\"\"\"Second.\n\nMore of it.\n\"\"\"\nx = 1\n" + kCheck.substr(1));
  write_file(folder.path() / "a.py", "\"\"\"First.\"\"\"\nx = 1" + kCheck);
  write_file(folder.path() / "notes.md", "no title");
  const auto examples = load_examples(folder.path());
  REQUIRE(examples);
  REQUIRE(examples->size() == 2);
  CHECK((*examples)[0].name == "a");
  CHECK((*examples)[0].title == "First.");
  CHECK((*examples)[0].source == "\"\"\"First.\"\"\"\nx = 1\n");
  CHECK((*examples)[1].title == "Second.");
}

TEST_CASE("an example that cannot be shown is an error that names the file") {
  const TemporaryFolder folder;
  CHECK(load_examples(folder.path() / "none").error().message.find("none") != std::string::npos);
  for (const std::string& text :
       {std::string(), "x = 1" + kCheck, "\"\"\"\nLate title\"\"\"" + kCheck,
        "\"\"\"\"\"\"" + kCheck, std::string("\"\"\"No check.\"\"\"\nx = 1\n"),
        "\"\"\"Long.\"\"\"\n" + std::string(5'000, 'x') + kCheck}) {
    write_file(folder.path() / "odd.py", text);
    const auto examples = load_examples(folder.path());
    REQUIRE(!examples);
    CHECK(examples.error().message.find("odd.py") != std::string::npos);
  }
}
