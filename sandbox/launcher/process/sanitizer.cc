#include "sandbox/launcher/process/sanitizer.h"

#include <stdlib.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <system_error>

#include "base/stderr_line.h"
#include "sandbox/launcher/process/tool.h"

namespace assay::sandbox {
namespace {

constexpr int kNotStarted = 127;

/// A new folder below /tmp for the report. The destructor removes the folder.
class ReportFolder {
 public:
  ReportFolder() {
    std::string pattern = "/tmp/assay-sanitizer-XXXXXX";
    if (::mkdtemp(pattern.data()) != nullptr) path_ = pattern;
  }
  ReportFolder(const ReportFolder&) = delete;
  ReportFolder& operator=(const ReportFolder&) = delete;
  ~ReportFolder() {
    std::error_code ignored;
    if (!path_.empty()) std::filesystem::remove_all(path_, ignored);
  }
  bool exists() const { return !path_.empty(); }
  std::string file() const { return path_ + "/report.xml"; }

 private:
  std::string path_;
};

/// Returns the contents of a report. A missing file is an empty report.
Result<std::string> read_report(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return std::string();
  std::string bytes(kMaxSanitizerReportBytes + 1, '\0');
  file.read(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  bytes.resize(static_cast<std::size_t>(file.gcount()));
  if (bytes.size() > kMaxSanitizerReportBytes)
    return fail(ErrorCode::io, "the sanitizer's report is longer than " +
                                   std::to_string(kMaxSanitizerReportBytes) + " bytes");
  return bytes;
}

}  // namespace

std::vector<std::string> sanitizer_words(const SanitizerCommand& command,
                                         const std::string& report) {
  std::vector<std::string> words = {command.sanitizer,
                                    "--tool",
                                    std::string(to_string(command.tool)),
                                    "--xml",
                                    "--save",
                                    report,
                                    "--print-limit",
                                    std::to_string(kMaxSanitizerRecords),
                                    "--show-backtrace",
                                    "device"};
  const auto add = [&](std::vector<std::string> more) {
    words.insert(words.end(), more.begin(), more.end());
  };
  switch (command.tool) {
    case SanitizerTool::memcheck:
      // memcheck does not report failed calls of the driver, because the launcher reports these
      // failures.
      add({"--report-api-errors", "no", "--padding", std::to_string(kSanitizerPaddingBytes)});
      break;
    case SanitizerTool::racecheck: add({"--racecheck-report", "analysis"}); break;
    case SanitizerTool::initcheck:
      // initcheck does not report copies by the launcher. The launcher copies an output even if the
      // submission has not written it, and such a copy must not be a finding.
      add({"--check-api-memory-access", "no"});
      break;
    case SanitizerTool::synccheck: break;
  }
  add({command.launcher});
  add(command.arguments);
  return words;
}

std::vector<std::string> sanitizer_folders(const std::string& sanitizer) {
  const std::string folder = parent_folder(sanitizer);
  // A folder below /usr needs no mount, because /usr is always visible in the jail.
  return folder.starts_with("/usr/") ? std::vector<std::string>() : std::vector{folder};
}

Result<Sanitized> run_sanitizer(const SanitizerCommand& command) {
  const ReportFolder folder;
  if (!folder.exists()) return fail_errno("mkdtemp in /tmp");
  const pid_t child = ::fork();
  if (child < 0) return fail_errno("fork");
  if (child == 0) {
    const Status failed = become_tool(sanitizer_words(command, folder.file()), command.launcher);
    stderr_line("assay-launcher: " + failed.error().message);
    ::_exit(kNotStarted);
  }
  Result<std::int64_t> status = wait_for_tool(child);
  if (!status) return fail(status.error());
  Result<std::string> report = read_report(folder.file());
  if (!report) return fail(report.error());
  return Sanitized{*status, std::move(*report)};
}

}  // namespace assay::sandbox
