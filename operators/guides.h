// Loads the guides and the examples, which show an agent how to write kernels.
//
// A guide explains one topic: a Markdown file in operators/guides. An example is a short kernel
// that shows one technique: a Python file in operators/examples. No example solves an operator
// (tests/operators/test_examples_overlap.py checks that). To add a guide or an example, add a file.
// The functions have no state and are thread-safe.
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
  std::string title;  // the file's first line without "# "
  std::string text;   // the file's whole text
};

/// Returns the guides, sorted by topic. The error message names the missing folder, or the file
/// that has no title or is too large.
Result<std::vector<Guide>> load_guides(const std::filesystem::path& folder);

struct Example {
  std::string name;   // the file's name without .py
  std::string title;  // the first line of the file's docstring
  // The text of the file without its last function, `check`, which tests the example.
  std::string source;
};

/// Returns the examples, sorted by name. The error message names the missing folder, or the file
/// that has no title, has no `check` or is too large.
Result<std::vector<Example>> load_examples(const std::filesystem::path& folder);

}  // namespace assay::operators
