#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "tools/answer/answers.h"
#include "tools/call/schema_parts.h"
#include "tools/registry.h"

namespace assay::tools {
namespace {

using nlohmann::json;
using operators::FoundExample;

constexpr std::int64_t kMaxHits = 10;
constexpr std::int64_t kDefaultHits = 3;
constexpr std::int64_t kMaxCodeChars = 32'768;
constexpr std::size_t kCapShareOf4 = 3;  // quarters of the cap: kernels have down to 2.5 characters
                                         // a token, and the cap reckons with 3.2
constexpr std::size_t kFrameBytes =
    200;  // first line, last line, and what JSON puts around the entries

/// How many bytes `text` takes in JSON, where each line's end takes two.
std::size_t json_size(const std::string& text) {
  return json(text).dump(-1, ' ', false, json::error_handler_t::replace).size();
}

/// Each example that was found, by title; and whole where it still fits, best first. Half a kernel
/// is none.
Answer answer_of(const std::vector<FoundExample>& found, const std::string& by, std::size_t cap) {
  std::vector<std::string> heads;
  std::size_t room = cap / 4 * kCapShareOf4 - kFrameBytes;
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
  std::string next = "Take over the technique, not the code, and try it with `compile`.";
  if (found.empty())
    next =
        by == "query"
            ? "Try other words: what the kernel does (scan, ragged, atomic) or a name from the API."
            : "Try `query` with words.";
  if (left_out != 0) {
    next = count_text(static_cast<std::int64_t>(left_out), "source") +
           " left out for size; a smaller `k`, other words or response_format=detailed shows more.";
  }
  Answer answer;
  answer.text = "ok: " + count_text(static_cast<std::int64_t>(found.size()), "example") + " by " +
                by + "\n" + body + "next: " + next;
  answer.structured = {{"status", "ok"}, {"examples", std::move(entries)}, {"next", next}};
  return fitted(std::move(answer), cap);
}

}  // namespace

Tool search_examples_tool(Services& services) {
  Tool tool;
  tool.name = "search_examples";
  tool.title = "Search the example kernels";
  tool.description =
      "Short, tested Triton kernels that show one technique each (masks, scans, ragged rows, "
      "atomics, ...), none of which is an operator of the benchmark. "
      "Found by words (`query`), or by likeness to a piece of source (`code`): give one of the "
      "two.";
  tool.input_schema = input_object(
      {{"query", text_property("Words: what the example should show")},
       {"code", text_property("Python source, whole or a piece: finds kernels that look like it",
                              kMaxCodeChars)},
       {"k", integer_property("How many at most; default 3", 1, kMaxHits)},
       {"response_format", format_property()}},
      {});
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
  tool.output_schema = output_object({{"examples", array_of(entry)}, {"next", text}});
  tool.read_only = true;
  tool.idempotent = true;
  tool.run = [&services](const json& arguments, const CallContext&) {
    if (services.examples == nullptr)
      return error_answer({ErrorCode::unavailable, "this server has no examples"});
    const bool by_words = arguments.contains("query");
    if (by_words == arguments.contains("code"))
      return error_answer(
          {ErrorCode::invalid_argument, std::string(by_words ? "query and code are both given"
                                                             : "neither query nor code is given") +
                                            "; valid: one of them, query (words, e.g. \"segmented "
                                            "scan\") or code (Python source)"});
    const auto k = static_cast<std::size_t>(arguments.value("k", kDefaultHits));
    const std::string wanted = text_argument(arguments, by_words ? "query" : "code");
    const auto found =
        by_words ? services.examples->by_words(wanted, k) : services.examples->by_code(wanted, k);
    if (!found) return error_answer(found.error());
    return answer_of(*found, by_words ? "query" : "code",
                     cap_of(services.limits, format_of(arguments)));
  };
  return tool;
}

}  // namespace assay::tools
