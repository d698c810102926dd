// Loads the two kinds of text that show an agent how to write kernels.
//
// A guide explains one topic: a Markdown file in operators/guides. An example is a short kernel
// that shows one technique: a Python file in operators/examples. No example solves an operator
// (tests/operators/test_examples_overlap.py checks that). To add a guide or an example, add a file.
// Pure functions of the folder's content, thread-safe.
//
//   Result<std::vector<Guide>> guides = load_guides("operators/guides");
//   guides->front().title;  // "Atomics"
//   Result<std::vector<Example>> examples = load_examples("operators/examples");
//   examples->front().source;  // the kernel's source
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "base/result.h"

namespace assay::operators {

struct Guide {
  std::string topic;  // the file's name without .md
  std::string title;  // the first line without "# "
  std::string text;   // the whole file
};

/// Returns the guides, sorted by topic. An error names the folder that is missing, or the file that
/// has no title or is too large to show.
Result<std::vector<Guide>> load_guides(const std::filesystem::path& folder);

struct Example {
  std::string name;    // the file's name without .py
  std::string title;   // the first line of the file's docstring
  std::string source;  // the file without its last function `check`, the example's test
};

/// Returns the examples, sorted by name. An error names the folder that is missing, or the file
/// that has no title, has no `check` or is too large to show.
Result<std::vector<Example>> load_examples(const std::filesystem::path& folder);

}  // namespace assay::operators
