// Guides are short texts about writing kernels, one Markdown file per topic in operators/guides. To
// add a guide, add a file there.
//
//   auto guides = load_guides("operators/guides");
//   // {topic "triton-pitfalls", title "Triton pitfalls", text "# Triton pitfalls\n..."}, ...
//
// A pure function of the folder's content.
//
// Examples are short kernels that show one technique each, one Python file per example in
// operators/examples. No example solves an operator (tests/operators/test_examples_overlap.py). To
// add an example, add a file there.
//
//   auto examples = load_examples("operators/examples");
//   // {name "collatz_steps", title "A loop that ...", source "..."}, ...
//
// A pure function of the folder's content.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "base/result.h"

namespace assay::operators {

struct Guide {
  std::string topic;  // the file's name without .md
  std::string title;  // its first line without "# "
  std::string text;   // the whole file
};

/// Returns the guides by topic. Errors name the missing folder, or the file without a title.
Result<std::vector<Guide>> load_guides(const std::filesystem::path& folder);

struct Example {
  std::string name;    // the file's name without .py
  std::string title;   // the first line of its docstring
  std::string source;  // the file without its last function `check`, the example's test
};

/// Returns the examples by name. Errors name the folder that is missing, or the file that has no
/// title, has no `check` or is too large to show.
Result<std::vector<Example>> load_examples(const std::filesystem::path& folder);

}  // namespace assay::operators
