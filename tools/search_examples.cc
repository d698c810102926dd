#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/text.h"
#include "operators/guides.h"
#include "operators/search/example_search.h"
#include "tools/call/arguments.h"
#include "tools/call/principal_of.h"
#include "tools/call/schema_parts.h"
#include "tools/call/source_arguments.h"
#include "tools/registry.h"

namespace assay::tools {
namespace {

using nlohmann::json;
using operators::FoundExample;

constexpr std::int64_t kMaxHits = 10;
constexpr std::int64_t kDefaultHits = 3;
constexpr std::int64_t kMaxCodeChars = 32'768;
// The share of the answer's maximum size that sources may fill, in quarters. The maximum size
// assumes 3.2 characters for each token, but kernels have as few as 2.5.
constexpr std::size_t kCapShareOf4 = 3;
// The room for the first line, the last line, and the JSON around the entries, in bytes.
constexpr std::size_t kFrameOfExamplesBytes = 200;

struct SearchExamplesArguments {
  enum class By { query, code, guide };
  By by = By::query;
  std::string wanted;                 // words, source code or a topic, depending on `by`
  std::optional<std::string> source;  // a job handle, whose source takes the place of the code
  std::int64_t k = kDefaultHits;
  Format format = Format::concise;

  static json schema() {
    return input_object({{"query", text_property("What the example should show")},
                         {"code", text_property("Python source or a fragment", kMaxCodeChars)},
                         {"source", text_property("Or: job of an earlier call", 0)},
                         {"guide", text_property("Topic that fetch_spec names")},
                         {"k", integer_property("At most so many; default 3", 1, kMaxHits)},
                         {"response_format", format_property()}},
                        {});
  }
  static Result<SearchExamplesArguments> parse(const json& arguments) {
    SearchExamplesArguments parsed;
    ArgumentReader reader(arguments);
    std::optional<std::string> query;
    std::optional<std::string> code;
    std::optional<std::string> guide;
    reader.read("source", parsed.source);
    reader.read("query", query);
    reader.read("code", code);
    reader.read("guide", guide);
    reader.read("k", parsed.k);
    reader.read("response_format", parsed.format);
    const int given = int{query.has_value()} + int{code.has_value()} +
                      int{parsed.source.has_value()} + int{guide.has_value()};
    if (given != 1)
      reader.refuse({ErrorCode::invalid_argument,
                     std::string(given == 0 ? "query, code, source and guide are missing"
                                            : "more than one of query, code, source and guide is "
                                              "given") +
                         "; valid: one of them, query (words, e.g. \"segmented scan\"), code "
                         "(Python source), source (a job handle) or guide (a topic, e.g. "
                         "\"triton-pitfalls\")"});
    parsed.by = query ? By::query : guide ? By::guide : By::code;
    parsed.wanted = query.value_or(code.value_or(guide.value_or("")));
    return reader.result(std::move(parsed));
  }
};

/// Lists the titles of all found examples, best match first. Adds only the sources that fit as a
/// whole, because a part of a kernel is useless.
mcp::ToolResult answer_of(const std::vector<FoundExample>& found, const std::string& by,
                          std::size_t cap) {
  std::vector<std::string> heads;
  std::size_t room = cap / 4 * kCapShareOf4 - kFrameOfExamplesBytes;
  for (const FoundExample& hit : found) {
    heads.push_back(hit.example->name + " (score " + number_text(hit.score) +
                    "): " + hit.example->title + "\n");
    const json bare = {{"by", by},
                       {"name", hit.example->name},
                       {"score", hit.score},
                       {"title", hit.example->title},
                       {"source", ""}};
    room -= std::min(room, std::max(heads.back().size(), bare.dump().size()) + 1);
  }
  json entries = json::array();
  std::string body;
  std::size_t left_out = 0;
  for (std::size_t i = 0; i < found.size(); ++i) {
    const operators::Example& example = *found[i].example;
    json entry = {
        {"name", example.name}, {"title", example.title}, {"score", found[i].score}, {"by", by}};
    body += heads[i];
    if (const std::size_t size = json_size(example.source); size <= room) {
      room -= size;
      body += example.source + "\n";
      entry["source"] = example.source;
    } else {
      ++left_out;
    }
    entries.push_back(std::move(entry));
  }
  std::string next = "Adopt the technique, not the code, and try it with `compile`.";
  if (found.empty())
    next =
        by == "query"
            ? "Try other words: what the kernel does (scan, ragged, atomic) or a name from the API."
            : "Try `query` with words.";
  if (left_out != 0) {
    next = count_text(static_cast<std::int64_t>(left_out), "source") +
           " left out to keep the answer small; a smaller `k`, other words or "
           "response_format=detailed shows "
           "more.";
  }
  mcp::ToolResult answer;
  answer.text = "ok: " + count_text(static_cast<std::int64_t>(found.size()), "example") + " by " +
                by + "\n" + body + "next: " + next;
  answer.structured = {{"status", "ok"}, {"examples", std::move(entries)}, {"next", next}};
  return fit_answer(std::move(answer), cap);
}

/// Returns a guide. It may be as long as a detailed answer, because a part of it is of little use.
mcp::ToolResult guide_answer(const Services& services, const std::string& topic) {
  static const std::vector<operators::Guide> kNone;
  const std::vector<operators::Guide>& guides = services.guides ? *services.guides : kNone;
  const auto found = std::find_if(guides.begin(), guides.end(), [&](const operators::Guide& guide) {
    return guide.topic == topic;
  });
  if (found == guides.end())
    return error_answer(
        {ErrorCode::not_found,
         "no guide about '" + topic + "'; valid topics: " +
             (guides.empty() ? "none" : join(guides, ", ", &operators::Guide::topic))});
  mcp::ToolResult answer;
  answer.text = "ok: " + found->text;
  answer.structured = {{"status", "ok"},
                       {"examples", json::array()},
                       {"guide", {{"topic", found->topic}, {"text", found->text}}},
                       {"next", "Apply it, then `run_tests`."}};
  return fit_answer(std::move(answer), max_chars(services.limits, Format::detailed));
}

mcp::ToolResult search_examples(const Services& services, const SearchExamplesArguments& arguments,
                                const mcp::RequestContext& context) {
  if (arguments.by == SearchExamplesArguments::By::guide)
    return guide_answer(services, arguments.wanted);
  if (services.examples == nullptr)
    return error_answer({ErrorCode::unsupported, "this server has no examples"});
  const bool by_words = arguments.by == SearchExamplesArguments::By::query;
  const auto k = static_cast<std::size_t>(arguments.k);
  std::string code = arguments.wanted;
  if (arguments.source) {
    SourceArguments named;
    named.source = arguments.source;
    const auto earlier = source_text(services, named, principal_of(context));
    if (!earlier) return error_answer(earlier.error());
    code = cut_end(earlier->text, static_cast<std::size_t>(kMaxCodeChars));
  }
  const auto found = by_words ? services.examples->by_words(arguments.wanted, k)
                              : services.examples->by_code(code, k);
  if (!found) return error_answer(found.error());
  return answer_of(*found, by_words ? "query" : "code",
                   max_chars(services.limits, arguments.format));
}

}  // namespace

mcp::Tool search_examples_tool(const Services& services) {
  mcp::Tool tool;
  tool.name = "search_examples";
  tool.title = "Search examples";
  tool.description =
      "Finds short, tested Triton kernels that show one technique each (masks, scans, ragged rows, "
      "atomics, ...), by words (`query`) or by similarity to `code` or to the `source` of "
      "an earlier call, or returns a `guide`: give one of the four.";
  tool.input_schema = SearchExamplesArguments::schema();
  const json text = {{"type", "string"}};
  const json entry = {{"type", "object"},
                      {"properties",
                       {{"name", text},
                        {"title", text},
                        {"source", text},
                        {"score", {{"type", "number"}}},
                        {"by", text}}},
                      {"required", {"name", "title", "score", "by"}},
                      {"additionalProperties", false}};
  const json guide = {{"type", "object"}, {"properties", {{"topic", text}, {"text", text}}}};
  tool.output_schema =
      output_object({{"examples", array_of(entry)}, {"guide", guide}, {"next", text}});
  tool.listed_output_schema = outline_of(tool.output_schema, {"examples"});
  tool.annotations = annotations_of({.read_only = true, .idempotent = true});
  set_quick_handler<SearchExamplesArguments>(
      tool,
      [&services](const SearchExamplesArguments& arguments, const mcp::RequestContext& context) {
        return search_examples(services, arguments, context);
      });
  return tool;
}

}  // namespace assay::tools
