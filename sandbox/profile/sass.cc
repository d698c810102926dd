#include "sandbox/profile/sass.h"

#include <algorithm>
#include <charconv>
#include <utility>
#include <vector>

namespace assay::sandbox {
namespace {

// The names of a submission's source file in a candidate.
constexpr std::string_view kSubmission = "submission.py", kCudaSubmission = "submission.cu";
constexpr std::size_t kMaxInstructions = 1 << 20;
constexpr std::size_t kMaxLineOpcodes = 4;
constexpr std::size_t kMaxCodeBytes = 120;
constexpr std::size_t kMaxFileBytes = 80;

struct Instruction {
  Opcode opcode;
  // The file (empty for the submission) and the line (0 if it is unknown) from which the
  // instruction was compiled.
  std::pair<std::string, std::int64_t> place;
  std::string_view branch;  // the label to which the instruction may jump
  bool conditional = false;
  bool looped = false;
};

struct Listing {
  std::vector<Instruction> instructions;
  std::map<std::string_view, std::size_t> labels;  // label -> index of the instruction after it
};

std::string_view trimmed(std::string_view text) {
  const auto begin = text.find_first_not_of(" \t\r");
  if (begin == text.npos) return {};
  return text.substr(begin, text.find_last_not_of(" \t\r;") + 1 - begin);
}

std::string_view take_line(std::string_view& text) {
  const auto end = std::min(text.find('\n'), text.size());
  const std::string_view line = text.substr(0, end);
  text.remove_prefix(std::min(end + 1, text.size()));
  return line;
}

std::string_view take_word(std::string_view& text) {
  text.remove_prefix(std::min(text.find_first_not_of(" \t"), text.size()));
  const auto end = std::min(text.find_first_of(" \t;"), text.size());
  const std::string_view word = text.substr(0, end);
  text.remove_prefix(end);
  return word;
}

std::int64_t number(std::string_view text) {
  std::int64_t value = 0;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return std::max<std::int64_t>(value, 0);
}

/// Returns the last two parts of a path, or an empty string for the submission's own file.
std::string shown_file(std::string_view path) {
  if (path.ends_with(kSubmission) || path.ends_with(kCudaSubmission)) return {};
  const auto slash = path.rfind('/');
  if (slash != path.npos && slash > 0) {
    const auto before = path.rfind('/', slash - 1);
    if (before != path.npos) path.remove_prefix(before + 1);
  }
  return std::string(path.substr(0, kMaxFileBytes));
}

std::string_view quoted(std::string_view text) {
  const auto begin = text.find('"');
  if (begin == text.npos) return {};
  const auto end = text.find('"', begin + 1);
  return end == text.npos ? std::string_view() : text.substr(begin + 1, end - begin - 1);
}

/// Reads the output of nvdisasm, whose lines have these forms:
///   //## File "x.py", line 3
///   .L_x_0:
///   /*00c0*/   @!P5 LDG.E R0, desc[UR8][R2.64] ;
Listing read_nvidia(std::string_view text) {
  Listing listing;
  std::pair<std::string, std::int64_t> place;
  while (!text.empty() && listing.instructions.size() < kMaxInstructions) {
    std::string_view line = trimmed(take_line(text));
    if (line.starts_with("//## File ")) {
      const auto at = line.find("\", line ");
      if (at != line.npos) place = {shown_file(quoted(line)), number(line.substr(at + 8))};
    } else if (line.ends_with(':')) {
      listing.labels[line.substr(0, line.size() - 1)] = listing.instructions.size();
    } else if (line.starts_with("/*")) {
      const auto end = line.find("*/");
      if (end == line.npos) continue;
      line.remove_prefix(end + 2);
      Instruction one;
      std::string_view word = take_word(line);
      if (word.starts_with('@')) {
        one.conditional = true;
        word = take_word(line);
      }
      one.opcode = nvidia_opcode(word);
      if (one.opcode.kind == Opcode::Kind::padding || word.empty()) continue;
      if (one.opcode.kind == Opcode::Kind::branch) {
        const auto label = line.find("`(");
        const auto close = line.rfind(')');
        if (label != line.npos && close != line.npos && close > label)
          one.branch = line.substr(label + 2, close - label - 2);
      }
      one.place = place;
      listing.instructions.push_back(std::move(one));
    }
  }
  return listing;
}

/// Reads LLVM's assembly, whose lines have these forms:
///   .file 1 "/tmp/x" "y.py"
///   .loc 1 7 26
///   .LBB0_2:
///   global_load_dword v4, v[4:5], off
Listing read_amd(std::string_view text) {
  Listing listing;
  std::pair<std::string, std::int64_t> place;
  std::map<std::int64_t, std::string> files;
  bool ended = false;
  while (!text.empty() && !ended && listing.instructions.size() < kMaxInstructions) {
    std::string_view line = take_line(text);
    line = trimmed(line.substr(0, line.find(" ;")));
    if (line.starts_with(".file")) {
      line.remove_prefix(5);
      const std::int64_t index = number(take_word(line));
      if (const auto last = line.rfind(" \""); last != line.npos)
        files[index] = shown_file(quoted(line.substr(last)));
    } else if (line.starts_with(".loc")) {
      line.remove_prefix(4);
      const std::int64_t file = number(take_word(line));
      if (const std::int64_t at = number(take_word(line)); at > 0) place = {files[file], at};
    } else if (line.ends_with(':')) {
      listing.labels[line.substr(0, line.size() - 1)] = listing.instructions.size();
    } else if (line.starts_with(".section")) {
      ended = !listing.instructions.empty();  // tables follow the code
    } else if (!line.empty() && line.front() >= 'a' && line.front() <= 'z') {
      Instruction one;
      one.opcode = amd_opcode(take_word(line));
      if (one.opcode.kind == Opcode::Kind::padding) continue;
      if (one.opcode.kind == Opcode::Kind::branch) one.branch = take_word(line);
      one.place = place;
      listing.instructions.push_back(std::move(one));
    }
  }
  return listing;
}

void mark_loops(Listing& listing) {
  std::vector<Instruction>& all = listing.instructions;
  std::map<std::size_t, std::size_t> loops;  // index of the first instruction -> index of the last
  std::vector<std::size_t> ends;             // indices of instructions that always end the program
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (all[i].opcode.kind == Opcode::Kind::end && !all[i].conditional) ends.push_back(i);
    const auto label =
        all[i].branch.empty() ? listing.labels.end() : listing.labels.find(all[i].branch);
    if (label == listing.labels.end() || label->second >= i) continue;
    const auto end = std::lower_bound(ends.begin(), ends.end(), label->second);
    if (end == ends.end()) loops[label->second] = i;
  }
  std::size_t until = 0;
  for (const auto& [first, last] : loops) {
    for (std::size_t i = std::max(first, until); i <= last; ++i) all[i].looped = true;
    until = std::max(until, last + 1);
  }
}

std::vector<OpcodeCount> most_frequent(const std::map<std::string, std::int64_t>& counts,
                                       std::size_t most) {
  std::vector<OpcodeCount> found;
  for (const auto& [opcode, count] : counts) found.push_back({opcode, count});
  std::stable_sort(found.begin(), found.end(),
                   [](const OpcodeCount& a, const OpcodeCount& b) { return a.count > b.count; });
  if (found.size() > most) found.resize(most);
  return found;
}

std::vector<std::string_view> lines_of(std::string_view source) {
  std::vector<std::string_view> lines;
  while (!source.empty()) lines.push_back(take_line(source));
  return lines;
}

void count_access(CodeDigest& digest, const Opcode& opcode) {
  switch (opcode.kind) {
    case Opcode::Kind::tensor:
      ++digest.tensor;
      if (digest.tensor_unit.empty()) digest.tensor_unit = opcode.unit;
      break;
    case Opcode::Kind::barrier: ++digest.barriers; break;
    case Opcode::Kind::local: ++digest.local_accesses; break;
    case Opcode::Kind::global_load: ++digest.global_loads[opcode.width]; break;
    case Opcode::Kind::global_store: ++digest.global_stores[opcode.width]; break;
    case Opcode::Kind::shared_load: ++digest.shared_loads[opcode.width]; break;
    case Opcode::Kind::shared_store: ++digest.shared_stores[opcode.width]; break;
    case Opcode::Kind::global_to_shared:
      ++digest.global_loads[opcode.width];
      ++digest.shared_stores[opcode.width];
      break;
    case Opcode::Kind::branch:
    case Opcode::Kind::end:
    case Opcode::Kind::padding:
    case Opcode::Kind::other: break;
  }
}

}  // namespace

CodeDigest digest_code(std::string_view assembly, const CodeOrigin& origin) {
  Listing listing = origin.target.starts_with("hip:") ? read_amd(assembly) : read_nvidia(assembly);
  mark_loops(listing);
  CodeDigest digest;
  digest.kernel = origin.kernel;
  digest.target = origin.target;
  digest.instructions = static_cast<std::int64_t>(listing.instructions.size());
  struct Line {
    std::int64_t count = 0, looped = 0;
    std::map<std::string, std::int64_t> in_loops, all;
  };
  std::map<std::string, std::int64_t> in_loops, all;
  std::map<std::pair<std::string, std::int64_t>, Line> lines;
  for (const Instruction& one : listing.instructions) {
    count_access(digest, one.opcode);
    ++all[one.opcode.name];
    Line& line = lines[one.place];
    ++line.count;
    ++line.all[one.opcode.name];
    if (!one.looped) continue;
    ++digest.looped;
    ++in_loops[one.opcode.name];
    ++line.looped;
    ++line.in_loops[one.opcode.name];
  }
  digest.opcodes = most_frequent(in_loops.empty() ? all : in_loops, kMaxDigestOpcodes);
  const std::vector<std::string_view> source = lines_of(origin.source);
  for (const auto& [place, line] : lines) {
    if (place.second == 0) continue;
    LineCount counted{.file = place.first,
                      .line = place.second,
                      .code = "",
                      .count = line.count,
                      .looped = line.looped,
                      .opcodes = {}};
    const auto index = static_cast<std::size_t>(place.second - 1);
    if (place.first.empty() && index < source.size())
      counted.code = std::string(trimmed(source[index]).substr(0, kMaxCodeBytes));
    counted.opcodes =
        most_frequent(line.in_loops.empty() ? line.all : line.in_loops, kMaxLineOpcodes);
    digest.lines.push_back(std::move(counted));
  }
  std::stable_sort(digest.lines.begin(), digest.lines.end(),
                   [](const LineCount& a, const LineCount& b) {
                     return std::pair(a.looped, a.count) > std::pair(b.looped, b.count);
                   });
  if (digest.lines.size() > kMaxDigestLines) digest.lines.resize(kMaxDigestLines);
  return digest;
}

}  // namespace assay::sandbox
