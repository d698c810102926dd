#include <algorithm>
#include <cmath>
#include <vector>

#include "base/text.h"
#include "tools/answer/answers.h"
#include "tools/answer/verdict_answer.h"

namespace assay::tools {
namespace {

using sandbox::CodeDigest;
using sandbox::KernelReport;
using sandbox::Profile;
using sandbox::ProfileDetail;
using sandbox::Roofline;
using sandbox::Verdict;

constexpr std::size_t kShortLineBytes = 260;
constexpr std::size_t kShownOpcodes = 4;
constexpr std::size_t kShownStalls = 2;
constexpr std::size_t kShownOperations = 24;

std::string short_line(const std::string& text) {
  return line_of(text.substr(0, text.find('\n')), kShortLineBytes);
}
std::string whole_percent(double share) { return number_text(std::round(share * 100)) + " %"; }

std::string count_of_bytes(double bytes) {
  if (bytes >= 1e9) return number_text(bytes / 1e9) + " GB";
  return bytes >= 1e6 ? number_text(bytes / 1e6) + " MB" : number_text(bytes / 1e3) + " kB";
}

std::string headline(const Verdict& verdict, const Profile& profile) {
  const bool compiled_only =
      verdict.error_kind == sandbox::ErrorKind::unsupported &&
      profile.evidence == sandbox::Evidence::compiled;  // a profile without a GPU
  std::string text = compiled_only ? "compiled only" : std::string(to_string(verdict.outcome));
  if (verdict.error_kind != sandbox::ErrorKind::none && !compiled_only)
    text += " (" + std::string(to_string(verdict.error_kind)) + ")";
  text += ": case '" + short_line(profile.case_id) + "' on " + short_line(profile.device_name) +
          " (" + short_line(profile.target) + ") is " + std::string(to_string(profile.bound)) +
          "-bound";
  if (compiled_only) return text + "\n";
  if (profile.evidence == sandbox::Evidence::compiled)
    return text + ", judged by its compiled code only\n";
  if (profile.roofline.share)
    text += ", " + whole_percent(*profile.roofline.share) + " of the roofline";
  return text + "\n";
}

std::string times(const Verdict& verdict) {
  for (const auto& record : verdict.cases) {
    if (!record.latency || record.latency->median_ns <= 0) continue;
    const auto& latency = *record.latency;
    std::string text = "latency " + duration_text(latency.median_ns) + " [" +
                       duration_text(latency.low_ns) + ", " + duration_text(latency.high_ns) + "]";
    const Baseline baseline = verdict.baseline.value_or(Baseline::oracle);
    if (record.baseline_latency)
      text += "; " + std::string(title_of(baseline)) + " " +
              duration_text(record.baseline_latency->median_ns) + " (" +
              number_text(record.baseline_latency->median_ns / latency.median_ns) + "x)";
    if (record.pytorch_ns && baseline != Baseline::torch_eager)
      text += "; PyTorch " + duration_text(*record.pytorch_ns) + " (" +
              number_text(*record.pytorch_ns / latency.median_ns) + "x)";
    if (record.torch_compile_ns)
      text += "; torch.compile " + duration_text(*record.torch_compile_ns) + " (" +
              number_text(*record.torch_compile_ns / latency.median_ns) + "x)";
    return text + "\n";
  }
  return "";
}

std::string roofline_text(const Roofline& roof) {
  std::string text =
      "roofline: at best " + duration_text(roof.floor_ns) + ", for " +
      count_of_bytes(roof.cost_bytes) + " at " + number_text(roof.bytes_per_s / 1e9) +
      " GB/s and " + number_text(roof.cost_flops / 1e9) + " GFLOP at " +
      number_text(roof.flops_per_s / 1e12) + " TFLOP/s (" + short_line(roof.unit) + ")";
  if (roof.latency_ns)
    text += "; reached " + number_text(roof.cost_bytes / *roof.latency_ns) + " GB/s, " +
            number_text(roof.cost_flops / *roof.latency_ns / 1e3) + " TFLOP/s";
  return text + "\n";
}

std::string widths(const char* what, const std::map<std::string, std::int64_t>& accesses) {
  if (accesses.empty()) return "";
  std::string text;
  for (const auto& [width, count] : accesses)
    text +=
        (text.empty() ? "" : " ") +
        (width == "bulk" || width == "matrix" ? short_line(width) : short_line(width) + "-bit") +
        " x" + std::to_string(count);
  return std::string(", ") + what + " " + text;
}

std::string opcodes_text(const std::vector<sandbox::OpcodeCount>& opcodes, std::size_t most) {
  std::string text;
  for (std::size_t i = 0; i < std::min(most, opcodes.size()); ++i)
    text += (i == 0 ? "" : ", ") + short_line(opcodes[i].opcode) + " x" +
            std::to_string(opcodes[i].count);
  return text;
}

std::string place_of(const sandbox::LineCount& line) {
  return line.file.empty() ? "line " + std::to_string(line.line)
                           : short_line(line.file) + ":" + std::to_string(line.line);
}

std::string kernel_text(const KernelReport& kernel) {
  std::string text = "kernel " + short_line(kernel.name) + ": " + std::to_string(kernel.launches) +
                     (kernel.launches == 1 ? " launch" : " launches");
  if (!kernel.grid.empty()) {
    text += " of ";
    for (std::size_t i = 0; i < kernel.grid.size(); ++i)
      text += (i == 0 ? "" : "x") + std::to_string(kernel.grid[i]);
    text += " blocks";
  }
  text += ", " + std::to_string(kernel.num_warps) + " warps, " + std::to_string(kernel.registers) +
          " registers, " + std::to_string(kernel.spill_bytes) + " B spilled, " +
          std::to_string(kernel.shared_bytes) + " B shared";
  if (kernel.occupancy > 0)
    text += "; occupancy " + whole_percent(kernel.occupancy) +
            " (limit: " + short_line(kernel.occupancy_limiter) + ")";
  return text + "\n";
}

std::string code_text(const CodeDigest& digest) {
  std::string text = "  code: " + std::to_string(digest.instructions) + " instructions";
  if (digest.looped > 0) text += " (" + std::to_string(digest.looped) + " in loops)";
  if (digest.tensor > 0)
    text += ", " + std::to_string(digest.tensor) + " " + short_line(digest.tensor_unit);
  text += widths("global loads", digest.global_loads);
  if (digest.local_accesses > 0)
    text += ", " + std::to_string(digest.local_accesses) + " of local memory";
  if (digest.barriers > 0) text += ", " + std::to_string(digest.barriers) + " barriers";
  text += "\n";
  if (!digest.lines.empty()) {
    const auto& hot = digest.lines.front();
    text += "  most code: " + place_of(hot) + " (" +
            std::to_string(hot.looped > 0 ? hot.looped : hot.count) +
            (hot.looped > 0 ? " in loops" : "") + ": " + opcodes_text(hot.opcodes, 3) + ")" +
            (hot.code.empty() ? "" : " `" + line_of(hot.code, 60) + "`") + "\n";
  }
  return text;
}

std::string stalls_text(const sandbox::KernelCounters& counters) {
  std::string text;
  for (std::size_t i = 0; i < std::min(kShownStalls, counters.stalls.size()); ++i)
    text += (i == 0 ? "" : ", ") + short_line(counters.stalls[i].reason) + " " +
            whole_percent(counters.stalls[i].share);
  return text.empty() ? "" : "  stalls: " + text + "\n";
}

std::string sass_digest(const Profile& profile) {
  std::string text;
  for (const CodeDigest& digest : profile.code) {
    text += "sass of " + short_line(digest.kernel) + (digest.looped > 0 ? ", in loops: " : ": ") +
            opcodes_text(digest.opcodes, digest.opcodes.size()) +
            widths("global loads", digest.global_loads) +
            widths("global stores", digest.global_stores) +
            widths("shared loads", digest.shared_loads) +
            widths("shared stores", digest.shared_stores) + "\n";
  }
  return text;
}

std::string source_digest(const Profile& profile) {
  std::string text;
  for (const CodeDigest& digest : profile.code) {
    text += "lines of " + short_line(digest.kernel) + " (instructions, in loops):\n";
    for (const auto& line : digest.lines)
      text += "- " + place_of(line) + ": " + std::to_string(line.count) + ", " +
              std::to_string(line.looped) + " (" + opcodes_text(line.opcodes, kShownOpcodes) + ")" +
              (line.code.empty() ? "" : " `" + line_of(line.code, 80) + "`") + "\n";
  }
  return text;
}

std::string timeline_digest(const Verdict& verdict) {
  std::string text;
  for (const auto& record : verdict.cases) {
    double all = 0;
    for (const auto& one : record.timeline) all += one.ns;
    for (std::size_t i = 0; i < std::min(kShownOperations, record.timeline.size()); ++i) {
      const auto& one = record.timeline[i];
      text += "- " + whole_percent(all > 0 ? one.ns / all : 0) + " " + duration_text(one.ns) + " " +
              short_line(one.name) + (one.submitted ? "" : " (not yours)") + "\n";
    }
    if (record.timeline.size() > kShownOperations)
      text += "- and " + std::to_string(record.timeline.size() - kShownOperations) +
              " more operations\n";
    // An operation's time is the time that it adds to the operations before it. The latency minus
    // the sum of these times is the time between operations.
    if (all > 0 && record.latency && record.latency->median_ns > all)
      text += "- " + duration_text(record.latency->median_ns - all) + " between operations\n";
  }
  return text;
}

std::string counters_digest(const Profile& profile) {
  std::string text;
  for (const auto& one : profile.counters) {
    text += "counters of " + short_line(one.kernel) +
            (one.limiter.empty() ? "" : " (occupancy limit: " + short_line(one.limiter) + ")") +
            ":";
    for (const auto& [name, value] : one.values)
      text += " " + short_line(name) + "=" + number_text(value);
    text += "\n";
  }
  return text;
}

std::string detail_digest(const Verdict& verdict, const Profile& profile) {
  switch (profile.detail) {
    case ProfileDetail::sass: return sass_digest(profile);
    case ProfileDetail::source: return source_digest(profile);
    case ProfileDetail::timeline: return timeline_digest(verdict);
    case ProfileDetail::counters: return counters_digest(profile);
    case ProfileDetail::sanitize: return sanitizer_text(verdict);
    case ProfileDetail::summary:
    case ProfileDetail::artifacts:
    case ProfileDetail::roofline: return "";
  }
  return "";
}

/// Returns a line for each kernel. If `room` has enough bytes left, the facts from the kernel's
/// code and counters follow the line.
std::string kernels_text(const Verdict& verdict, const Profile& profile, std::size_t room) {
  std::string text;
  std::size_t left = 0;
  for (const KernelReport& kernel : verdict.kernels) {
    const std::string line = kernel_text(kernel);
    if (text.size() + line.size() > room) {
      ++left;
      continue;
    }
    text += line;
    const auto code =
        std::find_if(profile.code.begin(), profile.code.end(),
                     [&](const CodeDigest& one) { return one.kernel == kernel.name; });
    const auto counted = std::find_if(profile.counters.begin(), profile.counters.end(),
                                      [&](const auto& one) { return one.kernel == kernel.name; });
    const std::string more = (code == profile.code.end() ? "" : code_text(*code)) +
                             (counted == profile.counters.end() ? "" : stalls_text(*counted));
    if (text.size() + more.size() <= room) text += more;
  }
  if (left > 0) text += "and " + std::to_string(left) + " more kernels\n";
  return text;
}

}  // namespace

std::string profile_text(const Verdict& verdict) {
  const Profile& profile = *verdict.profile;
  std::string text = headline(verdict, profile);
  if (verdict.outcome == sandbox::Outcome::error && !verdict.detail.empty())
    text += "not run: " + short_line(verdict.detail) + "\n";
  text += "why: " + short_line(profile.reason) + "\n" + times(verdict) +
          roofline_text(profile.roofline);
  std::string after = profile.suggestion.empty()
                          ? ""
                          : "suggestion: " + line_of(profile.suggestion, kShortLineBytes) + "\n";
  for (const auto& [part, why] : profile.missing)
    after += "no " + short_line(part) + ": " + short_line(why) + "\n";
  const std::size_t used = text.size() + after.size();
  text += kernels_text(verdict, profile, used < kProfileChars ? kProfileChars - used : 0);
  return text + after + detail_digest(verdict, profile);
}

}  // namespace assay::tools
