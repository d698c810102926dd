// Extracts the code from a model's reply. A reply is a whole module between Markdown fences, or a
// list of SEARCH/REPLACE edits of a module that the prompt showed.
//
//   const std::string source = extract_code(first_reply, "softmax_last_dim");
//   const std::string second_reply = R"(
//   <<<<<<< SEARCH
//       mask = offsets <= n
//   =======
//       mask = offsets < n
//   >>>>>>> REPLACE
//   )";
//   Result<std::vector<Edit>> edits = parse_edits(second_reply);
//   Result<std::string> changed = apply_edits(source, *edits);
//
// The SEARCH part of an edit consists of whole lines, which must occur exactly once in the source.
// If they occur never or several times, the edit is an error, and the model is told to correct it.
// Such an edit is never skipped, and its position is never guessed. Pure functions, thread-safe.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "reference_agents/llm/llm_client.h"

namespace assay::agents {

struct CodeBlock {
  std::string language;  // the language in lower case; empty if the fence names none
  std::string text;
  std::size_t begin = 0;  // the index of the opening fence's line in the reply
  bool closed = false;    // false: the text ended before a closing fence
};

/// Returns all fenced blocks (``` or ~~~, three or more) in order. An unclosed fence extends to the
/// end of the text.
std::vector<CodeBlock> fenced_blocks(std::string_view text);

/// Returns the last Python block that defines `entry`. If there is no such block, returns the last
/// Python block; if there is none either, the last block without a language. If the text has no
/// fences, returns the whole text. Returns "" if the result would be only white space. `entry` can
/// be empty.
std::string extract_code(std::string_view reply, std::string_view entry);

/// Returns the code of a model's reply, like extract_code(). But prose without a fence is no code,
/// and of a reply that the limit of tokens cut off, only code in a closed block is used.
std::string code_of(const CompletionReply& reply, std::string_view entry);

/// Says why code_of() found nothing.
std::string why_no_code(const CompletionReply& reply);

struct Edit {
  std::vector<std::string> search;   // lines, at least one of them not blank
  std::vector<std::string> replace;  // the new lines; empty: the found lines are removed
};

/// Returns the edits of a reply in order. Errors: invalid_argument, with a message for the model,
/// if there is no edit or an edit is malformed.
Result<std::vector<Edit>> parse_edits(std::string_view reply);

/// Applies the edits one after the other. Errors: invalid_argument if an edit cannot be applied,
/// and the message names the edit and the reason.
Result<std::string> apply_edits(const std::string& source, const std::vector<Edit>& edits);

/// The line that begins an edit.
inline constexpr std::string_view kEditMark = "<<<<<<< SEARCH";

/// Writes one edit that turns `before` into `after`. The edit quotes the lines that differ, and
/// enough neighbouring lines to be unique in `before`.
std::string edit_text(const std::string& before, const std::string& after);

}  // namespace assay::agents
