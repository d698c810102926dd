#include "tools/answer/answers.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstdio>

#include "base/text.h"

namespace assay::tools {
namespace {

using nlohmann::json;

constexpr std::size_t kMaxErrorBytes = 2'000;
// fit_answer() first cuts each string to kFirstTextBytes. It then halves this limit until the
// answer fits, or until the limit is kLeastTextBytes. It cuts arrays in the same way.
constexpr std::size_t kFirstTextBytes = 2'000;
constexpr std::size_t kFirstItems = 64;
constexpr std::size_t kLeastTextBytes = 60;
constexpr std::size_t kLeastItems = 2;

void shrink(json& value, std::size_t text_bytes, std::size_t items) {
  if (value.is_string()) {
    auto& text = value.get_ref<std::string&>();
    if (text.size() > text_bytes) text = cut_end(text, text_bytes);
  } else if (value.is_array()) {
    if (value.size() > items)
      value.erase(value.begin() + static_cast<std::ptrdiff_t>(items), value.end());
    for (json& item : value) shrink(item, text_bytes, items);
  } else if (value.is_object()) {
    for (auto& [key, member] : value.items()) {
      // These members are handles, and a cut handle is useless.
      if (key != "job" && key != "artifact" && key != "run") shrink(member, text_bytes, items);
    }
  }
}

template <class... Values>
std::string formatted(const char* format, Values... values) {
  std::array<char, 64> buffer{};
  std::snprintf(buffer.data(), buffer.size(), format, values...);
  return buffer.data();
}

/// Returns the message with a mark before each line but the first, because the message may quote
/// the caller's input, and its lines must not look like lines of the answer.
std::string quoted_after_first_line(const std::string& escaped) {
  const std::string quoted = quote_lines(escaped, kMaxErrorBytes);
  // Leaves out the mark of the first line and the line feed of the last one.
  return quoted.empty() ? ""
                        : quoted.substr(kQuoteMark.size(), quoted.size() - kQuoteMark.size() - 1);
}

}  // namespace

std::size_t max_chars(const AnswerLimits& limits, Format format) {
  return static_cast<std::size_t>(format == Format::detailed ? limits.detailed_chars
                                                             : limits.concise_chars);
}

mcp::ToolResult error_answer(const Error& error) {
  const std::string escaped = escape_text(error.message);
  const std::string message = cut_middle(escaped, kMaxErrorBytes);
  const std::string code(to_string(error.code));
  mcp::ToolResult answer;
  answer.is_error = true;
  answer.text = "error (" + code + "): " + quoted_after_first_line(escaped);
  answer.structured = {{"status", "error"}, {"error", {{"code", code}, {"message", message}}}};
  // These two errors pass without a change of the call: a device or the store cannot be used at the
  // moment, or a queue is full.
  if (error.code == ErrorCode::unavailable || error.code == ErrorCode::resource_exhausted)
    answer.structured["error"]["retryable"] = true;
  return answer;
}

std::size_t json_size(const json& value) { return json_text_bytes(value); }

mcp::ToolResult fit_answer(mcp::ToolResult answer, std::size_t most) {
  if (answer.text.size() > most) answer.text = cut_lines(answer.text, most);
  if (json_size(answer.structured) <= most) return answer;
  const json whole = answer.structured;
  std::size_t text_bytes = std::min(kFirstTextBytes, most);
  std::size_t items = kFirstItems;
  while (json_size(answer.structured) > most) {
    answer.structured = whole;
    shrink(answer.structured, text_bytes, items);
    answer.structured["truncated"] =
        "texts over " + std::to_string(text_bytes) + " bytes and lists over " +
        std::to_string(items) +
        " entries are cut; response_format=detailed and read_artifact show more";
    if (text_bytes == kLeastTextBytes && items == kLeastItems) break;
    text_bytes = std::max(text_bytes / 2, kLeastTextBytes);
    items = std::max(items * 3 / 4, kLeastItems);
  }
  return answer;
}

std::string line_of(const std::string& text, std::size_t most) {
  return cut_end(escape_line(text), most);
}

std::string number_text(double value) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value > 0 ? "inf" : "-inf";
  return formatted("%.4g", value);
}

std::string duration_text(double ns) {
  if (ns < 1e6) return formatted("%.2f us", ns / 1e3);
  return ns < 1e9 ? formatted("%.2f ms", ns / 1e6) : formatted("%.2f s", ns / 1e9);
}

std::string cost_text(const Usage& usage) {
  std::string amount = "$" + number_text(usage.cost_usd);
  if (usage.cost_known) return amount;
  return usage.cost_usd > 0 ? "cost not known (" + amount + " of it is)" : "cost not known";
}

std::string count_text(std::int64_t count, const std::string& noun) {
  return std::to_string(count) + " " + noun + (count == 1 ? "" : "s");
}

nlohmann::json suite_json(const SuiteId& suite) {
  nlohmann::json said = {{"name", suite.name}, {"version", suite.version}};
  if (!suite.digest.empty()) said["digest"] = suite.digest;
  return said;
}

}  // namespace assay::tools
