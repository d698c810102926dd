// Guides are short texts about writing kernels, one Markdown file per topic in operators/guides. To
// add a guide, add a file there.
//
//   auto guides = load_guides("operators/guides");
//   // {topic "triton-pitfalls", title "Triton pitfalls", text "# Triton pitfalls\n..."}, ...
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

}  // namespace assay::operators
