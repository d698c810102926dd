#include <algorithm>
#include <cstdint>
#include <cstring>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/text.h"
#include "operators/catalog.h"
#include "operators/names.h"
#include "tools/call/arguments.h"
#include "tools/call/schema_parts.h"
#include "tools/registry.h"

namespace assay::tools {
namespace {

using nlohmann::json;
using operators::Operator;

constexpr std::int64_t kMaxDifficulty = 5;
constexpr std::size_t kShownQueryBytes = 100;

std::string lower(std::string text) {
  // Names and summaries are ASCII, so std::tolower is not needed. std::tolower looks up the locale
  // for every character, which would take a tenth of the call's time.
  std::transform(text.begin(), text.end(), text.begin(), [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  });
  return text;
}

template <class Visit>
void for_words(std::string_view text, std::string_view separators, Visit visit) {
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find_first_of(separators, begin), text.size());
    if (end > begin) visit(text.substr(begin, end - begin));
    begin = end + 1;
  }
}

struct ListOperatorsArguments {
  std::string split, family, dialect, query;  // an empty string matches every operator
  std::optional<std::int64_t> difficulty;
  Format format = Format::concise;

  static json schema(const operators::Catalog& catalog) {
    std::set<std::string> families;
    for (const Operator& op : catalog.all()) families.insert(op.family);
    return input_object(
        {{"split", choice_property("Only this split", {"standard", "ood", "dsl"})},
         {"family", choice_property("Only this family", {families.begin(), families.end()})},
         {"dialect", choice_property("Only this dialect", {"triton", "gluon", "tlx"})},
         {"difficulty", integer_property("Only this difficulty, 1 (easy) to 5", 1, kMaxDifficulty)},
         {"query", text_property("Words in the name, family or summary")},
         {"response_format", format_property()}},
        {});
  }
  static Result<ListOperatorsArguments> parse(const json& arguments) {
    ListOperatorsArguments parsed;
    ArgumentReader reader(arguments);
    reader.read("split", parsed.split);
    reader.read("family", parsed.family);
    reader.read("dialect", parsed.dialect);
    reader.read("difficulty", parsed.difficulty);
    reader.read("query", parsed.query);
    reader.read("response_format", parsed.format);
    return reader.result(std::move(parsed));
  }
};

/// The texts of all operators that a query searches. They are made once, because making them takes
/// longer than the rest of a call. The texts are joined with blanks, so that one search finds a
/// word in all of them. A word of a query contains no blank, so it never lies in two texts.
class SearchedTexts {
 public:
  explicit SearchedTexts(const operators::Catalog& catalog) {
    for (const Operator& op : catalog.all()) {
      begins_.push_back(all_.size());
      all_ += lower(op.name + " " + op.family + " " + op.summary) + " ";
    }
    begins_.push_back(all_.size());
  }

  const std::string& all() const { return all_; }

  /// Calls `visit` with the index of each operator whose text contains all words.
  template <class Visit>
  void for_matches(const std::vector<std::string_view>& words, Visit visit) const {
    const std::size_t count = begins_.size() - 1;
    if (words.empty()) {
      for (std::size_t i = 0; i < count; ++i) visit(i);
      return;
    }
    for (std::size_t at = find(words.front(), 0, all_.size()); at != std::string::npos;) {
      const auto after = std::upper_bound(begins_.begin(), begins_.end(), at);
      const auto index = static_cast<std::size_t>(after - begins_.begin()) - 1;
      if (std::all_of(words.begin() + 1, words.end(), [&](std::string_view word) {
            return find(word, begins_[index], *after) != std::string::npos;
          }))
        visit(index);
      at = find(words.front(), *after, all_.size());
    }
  }

 private:
  std::size_t find(std::string_view word, std::size_t begin, std::size_t end) const {
    const void* found = ::memmem(all_.data() + begin, end - begin, word.data(), word.size());
    return found == nullptr
               ? std::string::npos
               : static_cast<std::size_t>(static_cast<const char*>(found) - all_.data());
  }

  std::string all_;
  std::vector<std::size_t> begins_;  // of each text, and the end of the last one
};

bool passes_filters(const Operator& op, const ListOperatorsArguments& arguments) {
  const auto allows = [](const std::string& filter, std::string_view value) {
    return filter.empty() || filter == value;
  };
  return allows(arguments.split, operators::to_string(op.split)) &&
         allows(arguments.family, op.family) && allows(arguments.dialect, op.dialect) &&
         (!arguments.difficulty || *arguments.difficulty == op.difficulty);
}

/// Returns the operators that pass the filters and whose text contains every word of the query.
std::vector<const Operator*> find_operators(const operators::Catalog& catalog,
                                            const SearchedTexts& texts,
                                            const ListOperatorsArguments& arguments) {
  const std::string query = lower(arguments.query);
  std::vector<std::string_view> words;
  for_words(query, " ,", [&](std::string_view word) { words.push_back(word); });
  std::vector<const Operator*> found;
  texts.for_matches(words, [&](std::size_t index) {
    const Operator& op = catalog.all()[index];
    if (passes_filters(op, arguments)) found.push_back(&op);
  });
  return found;
}

/// Returns the next step after an empty result. It suggests the query with each unknown word
/// replaced by the nearest word of the catalog. If there is no such query, it suggests fewer
/// filters.
std::string after_nothing(const SearchedTexts& texts, const ListOperatorsArguments& arguments) {
  const std::string query = lower(arguments.query);
  const bool filtered = !arguments.split.empty() || !arguments.family.empty() ||
                        !arguments.dialect.empty() || arguments.difficulty.has_value();
  const std::string instead =
      filtered ? "Omit a filter." : "Use other words; without a query all operators are listed.";
  const std::string& haystack = texts.all();
  std::vector<std::string_view> known;
  for_words(haystack, " ,_", [&](std::string_view word) { known.push_back(word); });
  std::string corrected;
  for_words(query, " ,", [&](std::string_view word) {
    const std::string_view near =
        haystack.find(word) == std::string::npos ? operators::nearest(word, known) : word;
    if (!near.empty()) corrected.append(corrected.empty() ? "" : " ").append(near);
  });
  return corrected.empty() || corrected == query
             ? instead
             : "Did you mean the query '" + cut_end(escape_line(corrected), kShownQueryBytes) +
                   "'?" + (filtered ? " " + instead : "");
}

mcp::ToolResult answer_of(const std::vector<const Operator*>& found, const std::string& nothing,
                          std::size_t all, std::size_t cap) {
  mcp::ToolResult answer;
  const std::string head = "ok: " + std::to_string(found.size()) + " of " +
                           count_text(static_cast<std::int64_t>(all), "operator") + "\n";
  const std::string next =
      found.empty() ? nothing : "`fetch_spec` shows the specification of one of them.";
  std::string lines;
  std::string names_only;
  json entries = json::array();
  json names = json::array();
  for (const Operator* op : found) {
    const std::string split(operators::to_string(op->split));
    lines += op->name + " (" + split + ", " + op->family + ", " + op->dialect + ", difficulty " +
             std::to_string(op->difficulty) + "): " + escape_line(op->summary) + "\n";
    names_only += op->name + "\n";
    names.push_back(op->name);
    json entry = json::object();  // an initializer list would copy every text twice
    entry["name"] = op->name;
    entry["split"] = split;
    entry["family"] = op->family;
    entry["dialect"] = op->dialect;
    entry["difficulty"] = op->difficulty;
    entry["summary"] = op->summary;
    entries.push_back(std::move(entry));
  }
  const std::string tail = "next: " + next;
  const bool fits = head.size() + lines.size() + tail.size() <= cap;
  answer.text = head + (fits ? lines : names_only) + tail;
  answer.structured["status"] = "ok";
  answer.structured["total"] = all;
  answer.structured["matched"] = found.size();
  answer.structured["names"] = std::move(names);
  answer.structured["next"] = next;
  if (json_size(entries) + json_size(answer.structured) <= cap)
    answer.structured["operators"] = std::move(entries);
  return fit_answer(std::move(answer), cap);
}

mcp::ToolResult list_operators(const Services& services, const SearchedTexts& texts,
                               const ListOperatorsArguments& arguments) {
  const auto found = find_operators(services.catalog, texts, arguments);
  const std::string nothing = found.empty() ? after_nothing(texts, arguments) : "";
  return answer_of(found, nothing, services.catalog.all().size(),
                   max_chars(services.limits, arguments.format));
}

}  // namespace

mcp::Tool list_operators_tool(const Services& services) {
  mcp::Tool tool;
  tool.name = "list_operators";
  tool.title = "List the operators";
  tool.description =
      "Lists the operators, one line each, filtered by split, family, dialect, difficulty and "
      "words. "
      "A long list has only names; filter it to see summaries.";
  tool.input_schema = ListOperatorsArguments::schema(services.catalog);
  const json text = {{"type", "string"}};
  const json integer = {{"type", "integer"}};
  const json entry = {{"type", "object"},
                      {"properties",
                       {{"name", text},
                        {"split", text},
                        {"family", text},
                        {"dialect", text},
                        {"difficulty", integer},
                        {"summary", text}}},
                      {"required", {"name"}},
                      {"additionalProperties", false}};
  tool.output_schema = output_object({{"total", integer},
                                      {"matched", integer},
                                      {"names", array_of(text)},
                                      {"operators", array_of(entry)},
                                      {"next", text}});
  tool.listed_output_schema = outline_of(tool.output_schema, {"names"});
  tool.annotations = annotations_of({.read_only = true, .idempotent = true});
  set_quick_handler<ListOperatorsArguments>(
      tool, [&services, texts = SearchedTexts(services.catalog)](
                const ListOperatorsArguments& arguments, const mcp::RequestContext&) {
        return list_operators(services, texts, arguments);
      });
  return tool;
}

}  // namespace assay::tools
