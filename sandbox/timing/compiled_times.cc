#include "sandbox/timing/compiled_times.h"

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <system_error>

#include "base/files.h"
#include "base/handle.h"
#include "base/text.h"

namespace assay::sandbox {
namespace {

// The words that begin the lines of a file: "torch VERSION", "ns CASE NANOSECONDS" and
// "unsupported CASE REASON".
constexpr const char* kTorch = "torch";
constexpr const char* kNs = "ns";
constexpr const char* kUnsupported = "unsupported";
constexpr std::size_t kRevisionDigits = 16;  // digits of the SHA-256 that a file name contains

/// Returns the name with "-" in place of each character that is not a letter, a digit or "_".
std::string file_name_of(std::string name) {
  for (char& c : name) {
    if (std::isalnum(static_cast<unsigned char>(c)) == 0 && c != '_') c = '-';
  }
  return name;
}

/// Returns the rest of a line, without the blanks before it.
std::string rest_of(std::istringstream& line) {
  std::string rest;
  std::getline(line >> std::ws, rest);
  return rest;
}

}  // namespace

std::string compiled_times_path(const std::string& state_dir, const std::string& device_name,
                                const std::string& operator_name, const std::string& revision) {
  return state_dir + "/torch_compile/" + file_name_of(device_name) + "/" +
         file_name_of(operator_name) + "-" + revision.substr(0, kRevisionDigits);
}

std::optional<CompiledTimes> read_compiled_times(const std::string& path) {
  const std::vector<std::string> lines = split(read_small_file(path), "\n");
  CompiledTimes times;
  for (const std::string& text : lines) {
    std::istringstream line(text);
    std::string kind;
    line >> kind;
    if (kind == kTorch) {
      times.torch = rest_of(line);
      continue;
    }
    CompiledTime one;
    line >> one.case_id;
    if (double ns = 0; kind == kNs && line >> ns)
      one.ns = ns;
    else if (kind == kUnsupported)
      one.unsupported = rest_of(line);
    else
      return std::nullopt;
    times.cases.push_back(std::move(one));
  }
  return times.torch.empty() ? std::nullopt : std::optional(std::move(times));
}

Status write_compiled_times(const std::string& path, const CompiledTimes& times) {
  std::error_code error;
  std::filesystem::create_directories(std::filesystem::path(path).parent_path(), error);
  const std::string temporary = path + "." + new_handle("part");
  std::ofstream file(temporary);
  file << kTorch << ' ' << times.torch << '\n';
  for (const CompiledTime& one : times.cases) {
    if (one.ns)
      file << kNs << ' ' << one.case_id << ' ' << *one.ns << '\n';
    else
      file << kUnsupported << ' ' << one.case_id << ' ' << one.unsupported << '\n';
  }
  file.close();
  if (file) std::filesystem::rename(temporary, path, error);
  if (!file || error) return fail(ErrorCode::io, "cannot write " + path);
  return {};
}

void add_compiled_times(Verdict& verdict, const std::string& state_dir) {
  const Provenance& from = verdict.provenance;
  const std::optional<CompiledTimes> times = read_compiled_times(compiled_times_path(
      state_dir, from.device_name, verdict.operator_name, from.operator_revision));
  if (!times || times->torch != from.torch) return;
  for (CaseRecord& record : verdict.cases) {
    const auto found =
        std::find_if(times->cases.begin(), times->cases.end(),
                     [&](const CompiledTime& one) { return one.case_id == record.id; });
    if (!record.latency || found == times->cases.end()) continue;
    // The time was measured with CUDA events around the call. These events have the same overhead
    // as the timer's marks, so this overhead is subtracted.
    if (found->ns)
      record.torch_compile_ns = std::max(0.0, *found->ns - record.latency->overhead_ns);
    else
      record.torch_compile_unsupported = found->unsupported;
  }
}

}  // namespace assay::sandbox
