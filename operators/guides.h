// Guides: short texts for whoever writes kernels, one Markdown file per topic in operators/guides.
// A file there is all it takes to add one.
//
//   auto guides = load_guides("operators/guides");       // {topic "triton-pitfalls", title "Triton
//   pitfalls", text "# Triton pitfalls\n..."}
//
// Pure function of the folder's content.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "base/result.h"

namespace assay::operators {

struct Guide {
  std::string topic;  // the file's name without .md
  std::string title;  // its first line without "# "
  std::string text;   // all of it
};

/// By topic. A folder that is missing or a file without a title is an error that names it.
Result<std::vector<Guide>> load_guides(const std::filesystem::path& folder);

}  // namespace assay::operators
