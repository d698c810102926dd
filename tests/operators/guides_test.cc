#include "operators/guides.h"

#include <algorithm>
#include <fstream>
#include <string>
#include <vector>

#include "tests/catch.h"
#include "tests/tools/fixture.h"

using assay::operators::load_examples;
using assay::operators::load_guides;
using assay::testing::TemporaryFolder;
using assay::testing::write_file;

namespace {

const std::string kCheck = "\n\n\ndef check():\n    assert secret\n";

}  // namespace

TEST_CASE("the repository's guides load") {
  const auto guides = load_guides(std::string(ASSAY_SOURCE_DIR) + "/operators/guides");
  INFO((guides ? std::string() : guides.error().message));
  REQUIRE(guides);
  std::vector<std::string> topics;
  for (const auto& guide : *guides) topics.push_back(guide.topic);
  CHECK(topics == std::vector<std::string>{"atomics", "attention", "autotuning", "gemm-tiling",
                                           "gluon", "hopper-facts", "memory-bound-kernels",
                                           "mi300-facts", "reductions-and-scans", "tlx",
                                           "triton-pitfalls"});
  const auto found = std::find(topics.begin(), topics.end(), "memory-bound-kernels");
  REQUIRE(found != topics.end());
  const auto& guide = (*guides)[static_cast<std::size_t>(found - topics.begin())];
  CHECK(guide.title == "Memory-bound kernels");
  CHECK(guide.text.starts_with("# Memory-bound kernels\n"));
}

TEST_CASE("only Markdown files are guides; they are sorted by topic") {
  const TemporaryFolder folder;
  write_file(folder.path() / "b.md", "# Second\ntext\n");
  write_file(folder.path() / "a.md", "# First");
  write_file(folder.path() / "notes.txt", "no title");
  const auto guides = load_guides(folder.path());
  REQUIRE(guides);
  REQUIRE(guides->size() == 2);
  CHECK((*guides)[0].title == "First");
  CHECK((*guides)[1].topic == "b");
}

TEST_CASE("a guide that cannot be shown is an error that names the file") {
  const TemporaryFolder folder;
  CHECK(load_guides(folder.path() / "none").error().message.find("none") != std::string::npos);
  for (const std::string& text : {std::string("no title\n"), std::string("# "), std::string(),
                                  "# Long\n" + std::string(30'000, 'x')}) {
    write_file(folder.path() / "odd.md", text);
    const auto guides = load_guides(folder.path());
    REQUIRE(!guides);
    CHECK(guides.error().message.find("odd.md") != std::string::npos);
  }
}

TEST_CASE("the repository's examples load without their tests") {
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

TEST_CASE(
    "only Python files are examples; they are sorted by name, and the docstring has the title") {
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
