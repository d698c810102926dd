// Helps a tool to build its answer: formats errors and numbers, and cuts long answers. An answer is
// a ToolResult with two forms of the same content: a text and a JSON value, `structured`. Each form
// holds the whole answer, because a client may read only one of them. The first line of the text is
// the outcome, and its last line is the next step. Pure functions, thread-safe.
//
//   mcp::ToolResult answer;
//   answer.text = "ok: " + count_text(3, "case");
//   answer.structured = {{"status", "ok"}, {"cases", 3}};
//   return fit_answer(std::move(answer), max_chars(limits, Format::concise));
#pragma once

#include <cstdint>
#include <string>

#include "base/json.h"
#include "base/result.h"
#include "server/mcp/core/tool.h"
#include "tools/model/services.h"

namespace assay::tools {

/// The argument `response_format` of most tools.
enum class Format { concise, detailed };
/// Returns the maximum size of an answer's text. The same maximum applies to the JSON text of
/// `structured`. `limits` gives the maximum in characters, but the tools count bytes.
std::size_t max_chars(const AnswerLimits& limits, Format format);

/// Returns the answer of a failed call. Both its text and `structured` contain the error's code and
/// message. The message is escaped and shortened, because it may quote the caller's input. In the
/// text, its lines after the first have the mark of quote_lines().
mcp::ToolResult error_answer(const Error& error);

/// Cuts the text and `structured` to at most `most` bytes each. Of the text it removes the middle.
/// Of `structured` it removes the ends of the longest strings and arrays, and it adds a member
/// `truncated` that says so. Strings of 60 bytes and arrays of 2 entries are not cut further, so a
/// value with very many members can stay larger than `most`.
mcp::ToolResult fit_answer(mcp::ToolResult answer, std::size_t most);

/// Returns untrusted text as at most `most` bytes of one line. The text is escaped.
std::string line_of(const std::string& text, std::size_t most = 400);

/// Returns the number of bytes that the value takes in an answer. A newline in a string takes two
/// bytes, for example.
std::size_t json_size(const nlohmann::json& value);

/// Returns the value with at most four significant digits: "0.0123", "1.5e-07", "nan".
std::string number_text(double value);
/// Returns "12.34 us" or "1.20 ms", for example.
std::string duration_text(double ns);
/// Returns "$0.5", "cost not known" or "cost not known ($0.5 of it is)".
std::string cost_text(const Usage& usage);
/// Returns {"name": ..., "version": ..., "digest": ...}.
nlohmann::json suite_json(const SuiteId& suite);
/// Returns "1 case" or "3 cases", for example.
std::string count_text(std::int64_t count, const std::string& noun);

}  // namespace assay::tools
