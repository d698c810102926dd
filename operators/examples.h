// Examples: short kernels that show one technique each, one Python file per example in
// operators/examples. None computes what an operator asks for
// (tests/operators/test_examples_overlap.py). A file there is all it takes to add one.
//
//   auto examples = load_examples("operators/examples");     // {name "collatz_steps", title "A
//   loop that ...", source "..."}
//
// Pure function of the folder's content.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "base/result.h"

namespace assay::operators {

struct Example {
  std::string name;    // the file's name without .py
  std::string title;   // the first line of its docstring
  std::string source;  // all of it but `check`, the test of the example that ends the file
};

/// By name. A folder that is missing, and a file without a title, without `check` or too large to
/// show, are errors that name it.
Result<std::vector<Example>> load_examples(const std::filesystem::path& folder);

}  // namespace assay::operators
