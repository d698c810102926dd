#include "sandbox/profile/listing.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <map>
#include <utility>

namespace assay::sandbox {
namespace {

constexpr std::size_t kMaxSourceLines = 20'000;

std::string opcodes_text(const std::vector<OpcodeCount>& opcodes) {
  std::string text;
  for (const OpcodeCount& one : opcodes)
    text += (text.empty() ? "" : ", ") + one.opcode + " x" + std::to_string(one.count);
  return text;
}

std::string row(const std::string& place, const LineCount* line, const std::string& code) {
  std::array<char, 160> buffer{};
  if (line != nullptr)
    std::snprintf(buffer.data(), buffer.size(), "%5s | %5lld %5lld | %-44.44s | ", place.c_str(),
                  static_cast<long long>(line->count), static_cast<long long>(line->looped),
                  opcodes_text(line->opcodes).c_str());
  else
    std::snprintf(buffer.data(), buffer.size(), "%5s |             | %-44s | ", place.c_str(), "");
  return buffer.data() + code + "\n";
}

}  // namespace

std::string annotated_source(std::string_view source, const CodeDigest& digest) {
  std::map<std::int64_t, const LineCount*> own;
  for (const LineCount& line : digest.lines) {
    if (line.file.empty()) own[line.line] = &line;
  }
  std::string text =
      "kernel " + digest.kernel + " (" + digest.target +
      "): " + std::to_string(digest.instructions) + " instructions, " +
      std::to_string(digest.looped) +
      " in loops\n line |   all loops | most frequent (in loops, where there are any) | source\n";
  std::int64_t number = 0;
  while (!source.empty() && static_cast<std::size_t>(number) < kMaxSourceLines) {
    const auto end = std::min(source.find('\n'), source.size());
    const auto found = own.find(++number);
    text += row(std::to_string(number), found == own.end() ? nullptr : found->second,
                std::string(source.substr(0, end)));
    source.remove_prefix(std::min(end + 1, source.size()));
  }
  for (const LineCount& line : digest.lines) {
    if (!line.file.empty()) text += row("-", &line, line.file + ":" + std::to_string(line.line));
  }
  return text;
}

std::string timeline_text(const std::vector<OperationTime>& timeline) {
  std::vector<OperationTime> ordered = timeline;
  std::stable_sort(ordered.begin(), ordered.end(),
                   [](const OperationTime& a, const OperationTime& b) { return a.ns > b.ns; });
  double all = 0;
  for (const OperationTime& one : timeline) all += one.ns;
  std::string text = "     us  share  operation, with cold caches\n";
  for (const OperationTime& one : ordered) {
    std::array<char, 48> buffer{};
    std::snprintf(buffer.data(), buffer.size(), "%7.2f  %4.0f %%  ", one.ns / 1e3,
                  all > 0 ? one.ns / all * 100 : 0);
    text += buffer.data() + one.name + (one.submitted ? "" : " (not the submission's)") + "\n";
  }
  return text;
}

}  // namespace assay::sandbox
