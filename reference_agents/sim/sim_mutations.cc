#include "reference_agents/sim/sim_mutations.h"

#include <algorithm>
#include <cstddef>
#include <initializer_list>
#include <string_view>
#include <utility>
#include <vector>

namespace assay::agents {
namespace {

constexpr int kNeedlessLaunches = 15;

constexpr std::pair<const char*, const char*> kWrongWords[] = {
    {"(x + y)", "(x - y)"},  {"1.0 + ", "1.5 + "},   {"tl.exp(", "tl.exp2("},
    {"tl.sum(", "tl.max("},  {"tl.max(", "tl.min("}, {"tl.maximum(", "tl.minimum("},
    {" 0.5 * ", " 0.25 * "}, {" + 1.0", " + 1.25"},
};

/// One possible change: `text` replaces the `length` bytes at the offset `at`.
struct Change {
  std::size_t at = 0;
  std::size_t length = 0;
  std::string text;
};

struct Line {
  std::size_t at = 0;
  std::string_view text;
  bool in_kernel = false;
};

/// Splits a module into lines and marks the lines in the body of a jitted function.
std::vector<Line> lines_of(std::string_view source) {
  std::vector<Line> lines;
  bool decorated = false;
  bool in_kernel = false;
  for (std::size_t at = 0; at < source.size();) {
    const std::size_t end = std::min(source.find('\n', at), source.size());
    const std::string_view text = source.substr(at, end - at);
    const bool top_level = !text.empty() && text.front() != ' ' && text.front() != '\t' &&
                           text.front() != ')' && text.front() != '#';
    if (top_level && text.front() == '@')
      decorated = decorated || text.find("jit") != std::string_view::npos;
    if (top_level && text.front() != '@') {
      in_kernel = decorated && text.starts_with("def ");
      decorated = false;
    }
    lines.push_back({at, text, in_kernel && !top_level});
    at = end + 1;
  }
  return lines;
}

bool has_any(std::string_view text, std::initializer_list<const char*> words) {
  for (const char* word : words) {
    if (text.find(word) != std::string_view::npos) return true;
  }
  return false;
}

void add_first(const Line& line, const char* from, const char* to, std::vector<Change>& changes) {
  const std::size_t found = line.text.find(from);
  const std::size_t comment = line.text.find('#');
  if (found != std::string_view::npos && found < comment)
    changes.push_back({line.at + found, std::string_view(from).size(), to});
}

std::vector<Change> breaking_changes(const std::vector<Line>& lines) {
  std::vector<Change> changes;
  for (const Line& line : lines) {
    if (!line.in_kernel) continue;
    add_first(line, "tl.load(", "tl.load_block(", changes);
    add_first(line, "tl.store(", "tl.store(((", changes);
    add_first(line, "gl.load(", "gl.load_block(", changes);
    add_first(line, "tl.program_id(0)", "tl.program_index(0)", changes);
  }
  return changes;
}

std::vector<Change> wrong_changes(const std::vector<Line>& lines) {
  std::vector<Change> changes;
  for (const Line& line : lines) {
    if (!line.in_kernel) continue;
    if (line.text.find("mask = ") != std::string_view::npos &&
        line.text.find(" < ") != std::string_view::npos && !has_any(line.text, {"&", "#"})) {
      changes.push_back({line.at + line.text.size(), 0, " - 1"});
    }
    // Lines that compute addresses are not changed, because a wrong address causes a memory fault
    // instead of a wrong result.
    if (has_any(line.text,
                {"program_id", "arange", "tl.load(", "range(", "constexpr", "mask =", "_ptr ="}))
      continue;
    for (const auto& [from, to] : kWrongWords) add_first(line, from, to, changes);
  }
  return changes;
}

std::vector<Change> slow_changes(const std::vector<Line>& lines) {
  std::vector<Change> changes;
  for (const Line& line : lines) {
    if (line.in_kernel) continue;
    for (const char* warps : {"num_warps=16", "num_warps=8", "num_warps=4"})
      add_first(line, warps, "num_warps=1", changes);
    for (const char* block : {"block = 8192", "block = 4096", "block = 2048", "block = 1024"})
      add_first(line, block, "block = 32", changes);
    const std::size_t indent = line.text.find_first_not_of(' ');
    const bool launch =
        line.text.find("_kernel[") == line.text.find('[') - 7 && line.text.ends_with(')');
    if (indent == std::string_view::npos || indent == 0 || !launch) continue;
    const std::string margin(indent, ' ');
    changes.push_back({line.at, line.text.size(),
                       margin + "for _ in range(" + std::to_string(kNeedlessLaunches + 1) +
                           "):\n    " + std::string(line.text)});
  }
  return changes;
}

std::string with(std::string source, const Change& change) {
  return source.replace(change.at, change.length, change.text);
}

}  // namespace

std::string mutate(const std::string& source, Flaw flaw, std::uint64_t draw) {
  const std::vector<Line> lines = lines_of(source);
  std::vector<Change> changes;
  switch (flaw) {
    case Flaw::none: return source;
    case Flaw::does_not_compile: break;
    case Flaw::wrong: changes = wrong_changes(lines); break;
    case Flaw::slow:
      changes = slow_changes(lines);
      if (changes.empty()) return source;
      break;
  }
  if (changes.empty()) changes = breaking_changes(lines);
  if (changes.empty()) return "import triton.no_such_module\n" + source;
  return with(source, changes[draw % changes.size()]);
}

}  // namespace assay::agents
