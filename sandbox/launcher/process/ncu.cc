#include "sandbox/launcher/process/ncu.h"

#include <stdlib.h>
#include <unistd.h>

#include <algorithm>

namespace assay::sandbox {
namespace {

// The packages of ncu install into this folder the files for which ncu's start script looks.
constexpr const char* kInstallation = "/opt/nvidia";
constexpr std::string_view kPlatforms = "/target";

std::string folder_of(const std::string& path) {
  return path.substr(0, std::max<std::size_t>(path.rfind('/'), 1));
}

std::string metrics() {
  std::string list;
  for (const NcuMetric& metric : kNcuMetrics)
    list += (list.empty() ? "" : ",") + std::string(metric.ncu);
  for (const std::string_view reason : kNcuStalls)
    list.append(",").append(kNcuStallPrefix).append(reason).append(kNcuStallSuffix);
  return list;
}

}  // namespace

std::vector<std::string> ncu_command(const std::string& ncu, const std::string& launcher,
                                     const std::vector<std::string>& arguments) {
  std::vector<std::string> command = {ncu,
                                      "--csv",
                                      "--page",
                                      "raw",
                                      "--print-units",
                                      "base",
                                      "--clock-control",
                                      "none",
                                      "--launch-count",
                                      std::to_string(kMaxCountedLaunches),
                                      "--metrics",
                                      metrics(),
                                      launcher};
  command.insert(command.end(), arguments.begin(), arguments.end());
  return command;
}

std::vector<std::string> ncu_folders(const std::string& ncu) {
  std::vector<std::string> folders = {folder_of(ncu)};
  // `ncu` may be the program itself instead of its start script. In that case its path is
  // INSTALLATION/target/PLATFORM/ncu, and the program looks for its section files in INSTALLATION.
  if (const std::string platforms = folder_of(folders[0]); platforms.ends_with(kPlatforms))
    folders[0] = folder_of(platforms);
  if (::access(kInstallation, F_OK) == 0) folders.emplace_back(kInstallation);
  // /usr is visible in the jail anyway, so folders below it are left out.
  std::erase_if(folders, [](const std::string& folder) { return folder.starts_with("/usr/"); });
  return folders;
}

Status become_ncu(const std::string& ncu, const std::string& launcher,
                  const std::vector<std::string>& arguments) {
  // This is checked here because ncu would only report that the launch failed. This process already
  // runs as the user `nobody`, which may lack permission to read a folder of root.
  if (::access(launcher.c_str(), X_OK) != 0)
    return fail_errno("in the jail of ncu, access " + launcher);
  // ncu writes files below HOME. Only /tmp is writable in the jail.
  for (const char* name : {"HOME", "TMPDIR"}) {
    if (::setenv(name, "/tmp", 1) != 0) return fail_errno("setenv");
  }
  std::vector<std::string> command = ncu_command(ncu, launcher, arguments);
  std::vector<char*> argv;
  for (std::string& word : command) argv.push_back(word.data());
  argv.push_back(nullptr);
  ::execv(argv[0], argv.data());
  return fail_errno("execv " + ncu);
}

}  // namespace assay::sandbox
