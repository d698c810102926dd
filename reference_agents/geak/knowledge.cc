#include "reference_agents/geak/knowledge.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cstddef>
#include <optional>
#include <string_view>
#include <utility>

namespace assay::agents {
namespace {

constexpr std::string_view kScheme = "guide://";
constexpr std::array<std::string_view, 2> kAlways = {"triton-pitfalls", "memory-bound-kernels"};
constexpr std::string_view kFacts = "-facts";
constexpr std::size_t kLeastStem = 4;  // the least length of a word; shorter words do not count

std::string lower(std::string_view text) {
  std::string out(text);
  std::transform(out.begin(), out.end(), out.begin(),
                 [](unsigned char byte) { return static_cast<char>(std::tolower(byte)); });
  return out;
}

/// Returns true if the text contains a word of the topic. A final "s" of the word does not matter.
/// For example, the topic "reductions-and-scans" matches the text "scan".
bool mentions(const std::string& text, std::string_view topic) {
  while (!topic.empty()) {
    const std::size_t end = std::min(topic.find('-'), topic.size());
    std::string_view word = topic.substr(0, end);
    topic.remove_prefix(std::min(end + 1, topic.size()));
    if (word.ends_with('s')) word.remove_suffix(1);
    if (word.size() >= kLeastStem && text.find(word) != std::string::npos) return true;
  }
  return false;
}

/// Returns the rank of a guide; rank 0 is the most useful. Returns nothing if the guide does not
/// suit the operator.
std::optional<int> rank_of(std::string_view topic, const Spec& spec, const std::string& spec_text) {
  if (topic == spec.dialect) return 0;
  if (std::find(kAlways.begin(), kAlways.end(), topic) != kAlways.end()) return 1;
  if (mentions(spec.family, topic)) return 2;
  if (topic.ends_with(kFacts)) return 3;
  if (mentions(spec_text, topic)) return 4;
  return std::nullopt;
}

}  // namespace

std::vector<std::string> guides_for(const Spec& spec, const std::vector<std::string>& resources) {
  const std::string text = lower(spec.text);
  std::vector<std::pair<int, std::string>> ranked;
  for (const std::string& uri : resources) {
    if (!uri.starts_with(kScheme)) continue;
    const std::optional<int> rank =
        rank_of(std::string_view(uri).substr(kScheme.size()), spec, text);
    if (rank) ranked.emplace_back(*rank, uri);
  }
  std::sort(ranked.begin(), ranked.end());
  std::vector<std::string> uris;
  for (const auto& [rank, uri] : ranked) uris.push_back(uri);
  return uris;
}

Result<std::string> knowledge_for(AgentSession& session, const Spec& spec) {
  const Result<std::vector<std::string>> resources = session.list_resources();
  if (!resources) return fail(resources.error());
  std::string knowledge;
  for (const std::string& uri : guides_for(spec, *resources)) {
    const Result<mcp::ToolResult> guide = session.read_resource(uri);
    if (!guide) return fail(guide.error());
    if (guide->is_error || knowledge.size() + guide->text.size() > kKnowledgeBytes)
      continue;  // the transcript shows the guide or the refusal
    knowledge += guide->text + "\n";
  }
  if (knowledge.empty()) {
    if (Status noted = session.note("no knowledge: the server offers no guides that suit"); !noted)
      return fail(noted.error());
    return knowledge;
  }
  return "What is known about writing kernels and about the hardware:\n\n" + knowledge;
}

namespace {

constexpr const char* kTool = "search_examples";
// The maximum size of a query. The query is the beginning of the operator's specification, because
// that is enough for a search.
constexpr std::size_t kQueryBytes = 2'000;

}  // namespace

Result<std::string> similar_example(AgentSession& session, const Spec& spec) {
  const Result<bool> there = session.has_tool(kTool);
  if (!there) return fail(there.error());
  if (!*there) {
    if (Status noted = session.note(std::string("no example: the server has no tool ") + kTool);
        !noted)
      return fail(noted.error());
    return std::string();
  }
  const Result<mcp::ToolResult> answer =
      session.call_tool(kTool, {{"query", spec.text.substr(0, kQueryBytes)}, {"k", 1}});
  if (!answer) return fail(answer.error());
  if (answer->is_error) return std::string();  // the transcript shows the refusal
  return "A kernel for a similar operator, as an example of style and technique:\n\n" +
         answer->text + "\n";
}

}  // namespace assay::agents
