#include "sandbox/launcher/process/rocprof.h"

#include <stdlib.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>

#include "base/stderr_line.h"
#include "sandbox/launcher/process/tool.h"

namespace assay::sandbox {
namespace {

constexpr int kNotRun = 127;
// The kernels of the launcher itself, which are not counted.
constexpr const char* kOwnKernels = "^assay_";
constexpr const char* kOutputName = "counters";

/// A folder for the file of rocprofv3, which is removed at the end.
class OutputFolder {
 public:
  OutputFolder() {
    std::string pattern = "/tmp/assay-rocprof-XXXXXX";
    if (::mkdtemp(pattern.data()) != nullptr) path_ = pattern;
  }
  OutputFolder(const OutputFolder&) = delete;
  OutputFolder& operator=(const OutputFolder&) = delete;
  ~OutputFolder() {
    std::error_code ignored;
    if (!path_.empty()) std::filesystem::remove_all(path_, ignored);
  }
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

}  // namespace

std::string rocprof_file(const std::string& folder) {
  return folder + "/" + kOutputName + "_counter_collection.csv";
}

std::vector<std::string> rocprof_words(const RocprofCommand& command, const std::string& folder) {
  std::vector<std::string> words = {command.rocprof, "--pmc"};
  std::string_view rest = kRocprofPasses.at(command.pass);
  while (!rest.empty()) {
    const std::size_t end = std::min(rest.find(' '), rest.size());
    words.emplace_back(rest.substr(0, end));
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  for (const std::string& word :
       {std::string("--mangled-kernels"), std::string("--kernel-exclude-regex"),
        std::string(kOwnKernels), std::string("--output-format"), std::string("csv"),
        std::string("--output-directory"), folder, std::string("--output-file"),
        std::string(kOutputName), std::string("--"), command.launcher})
    words.push_back(word);
  words.insert(words.end(), command.arguments.begin(), command.arguments.end());
  return words;
}

std::vector<std::string> rocprof_folders(const std::string& rocprof) {
  // rocprofv3 is a script in the folder bin of an installation, and loads libraries of its folder
  // lib.
  const std::string root = parent_folder(parent_folder(rocprof));
  const bool visible = rocprof.starts_with("/usr/") || root == "/";
  return visible ? std::vector<std::string>() : std::vector{root};
}

Status print_counters(const RocprofCommand& command) {
  const OutputFolder folder;
  if (folder.path().empty()) return fail_errno("mkdtemp in /tmp");
  const pid_t child = ::fork();
  if (child < 0) return fail_errno("fork");
  if (child == 0) {
    const Status failed = become_tool(rocprof_words(command, folder.path()), command.launcher);
    stderr_line("assay-launcher: " + failed.error().message);
    ::_exit(kNotRun);
  }
  Result<std::int64_t> status = wait_for_tool(child);
  if (!status) return fail(status.error());
  if (*status != 0)
    return fail(ErrorCode::io, "rocprofv3 ended with status " + std::to_string(*status));
  std::ifstream file(rocprof_file(folder.path()), std::ios::binary);
  if (!file) return fail(ErrorCode::io, "rocprofv3 wrote no file of counters");
  std::string bytes(kMaxRocprofBytes + 1, '\0');
  file.read(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  bytes.resize(static_cast<std::size_t>(file.gcount()));
  if (bytes.size() > kMaxRocprofBytes)
    return fail(ErrorCode::io, "the file of rocprofv3 is longer than " +
                                   std::to_string(kMaxRocprofBytes) + " bytes");
  if (std::fwrite(bytes.data(), 1, bytes.size(), stdout) != bytes.size() ||
      std::fflush(stdout) != 0)
    return fail_errno("printing the counters");
  return {};
}

}  // namespace assay::sandbox
