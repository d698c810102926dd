// Extracts the code from a model's reply, which is a whole module between Markdown fences. A reply
// that is a list of edits is read by base/text_edits.h.
//
//   const std::string source = extract_code(first_reply, "softmax_last_dim");
//
// Pure functions, thread-safe.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

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

}  // namespace assay::agents
