// SanitizerScript is a script that takes the place of compute-sanitizer. The script starts the
// launcher, and writes a fixed report for each tool. The launcher, its jail and its socket are
// real.
#pragma once

#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "sandbox/wire/sanitizer_tool.h"
#include "tests/catch.h"
#include "tests/sandbox/sanitize/report_samples.h"

namespace assay::sandbox::testing {

class SanitizerScript {
 public:
  /// `after` contains shell commands that run after the launcher. In them, $tool is the name of the
  /// tool, and $report is the file for the report.
  explicit SanitizerScript(const std::string& after = "cat \"$folder/$tool.xml\" > \"$report\"\n") {
    std::string pattern = "/tmp/assay-script-XXXXXX";
    REQUIRE(::mkdtemp(pattern.data()) != nullptr);
    folder_ = pattern;
    // In a build with AddressSanitizer, the launcher must not look for leaks: the jail forbids
    // ptrace.
    std::ofstream(path()) << "#!/bin/sh\n"
                             "export ASAN_OPTIONS=detect_leaks=0\n"
                             "folder=${0%/*}; tool=$2; report=$5\n"
                             "until case $1 in */assay-launcher) true;; *) false;; esac; do shift; "
                             "done\n"
                             "\"$@\" || exit $?\n"
                          << after;
    for (const SanitizerTool tool : kSanitizerTools) set_records(tool, "");
    // Inside the jail, the user `nobody` must be able to read these files.
    for (const auto& entry : {folder_, std::filesystem::path(path())})
      std::filesystem::permissions(entry, std::filesystem::perms(0755));
  }
  SanitizerScript(const SanitizerScript&) = delete;
  SanitizerScript& operator=(const SanitizerScript&) = delete;
  ~SanitizerScript() { std::filesystem::remove_all(folder_); }

  std::string path() const { return folder_ / "compute-sanitizer"; }
  void set_records(SanitizerTool tool, const std::string& records) const {
    std::ofstream(folder_ / (std::string(to_string(tool)) + ".xml")) << report_of(records);
  }

 private:
  std::filesystem::path folder_;
};

}  // namespace assay::sandbox::testing
