// Reads the code in a model's reply. A reply is a whole module between Markdown fences, or a list
// of SEARCH/REPLACE edits of a module that the prompt showed.
//
//   std::string source = extract_code(reply.text, "softmax_last_dim");
//   Result<std::vector<Edit>> edits = parse_edits(reply.text);
//   Result<std::string> changed = apply_edits(source, *edits);
//
// An edit names whole lines, and they must occur exactly once in the source:
//
//   <<<<<<< SEARCH
//       mask = offsets <= n
//   =======
//       mask = offsets < n
//   >>>>>>> REPLACE
//
// An edit that matches no place or several is an error for the model to correct. It is never
// skipped, and its place is never guessed. Pure functions, thread-safe.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

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

struct Edit {
  std::vector<std::string> search;   // lines; at least one that is not blank
  std::vector<std::string> replace;  // lines; none: the lines found are removed
};

/// In order. invalid_argument, in words for the model, when there is none or one is malformed.
Result<std::vector<Edit>> parse_edits(std::string_view reply);

/// Each edit applies to what those before it left. invalid_argument names the edit and what is
/// wrong with it.
Result<std::string> apply_edits(const std::string& source, const std::vector<Edit>& edits);

inline constexpr std::string_view kEditMark = "<<<<<<< SEARCH";

/// One edit that turns `before` into `after`: what differs, with as much around it as makes it
/// unique.
std::string edit_text(const std::string& before, const std::string& after);

}  // namespace assay::agents
