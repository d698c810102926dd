// The source in a model's reply: models wrap it in prose and Markdown fences, and some forget the
// fences or are cut off.
//
//   std::string source = extract_code(reply.text, "softmax_last_dim");
//
// Pure functions, safe from any thread.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace assay::agents {

struct CodeBlock {
  std::string language;  // lower case, empty when the fence names none
  std::string text;
};

/// Every fenced block (``` or ~~~, any length), in order. A fence that never closes holds the rest
/// of the text.
std::vector<CodeBlock> fenced_blocks(std::string_view text);

/// The last Python block that defines `entry`; else the last Python block; else the last block
/// without a language; else, when there are no fences at all, the whole text. Empty when nothing of
/// it is left but white space. `entry` may be empty.
std::string extract_code(std::string_view reply, std::string_view entry);

}  // namespace assay::agents
