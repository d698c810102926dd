#include "sandbox/launcher/process/ncu.h"

#include <unistd.h>

#include "sandbox/launcher/process/tool.h"

namespace assay::sandbox {
namespace {

// The packages of ncu install files in this folder, and ncu's start script reads them.
constexpr const char* kInstallation = "/opt/nvidia";
constexpr std::string_view kPlatforms = "/target";

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
  std::vector<std::string> folders = {parent_folder(ncu)};
  // `ncu` may be the program itself instead of its start script. In that case its path is
  // INSTALLATION/target/PLATFORM/ncu, and the program looks for its section files in INSTALLATION.
  if (const std::string platforms = parent_folder(folders[0]); platforms.ends_with(kPlatforms))
    folders[0] = parent_folder(platforms);
  if (::access(kInstallation, F_OK) == 0) folders.emplace_back(kInstallation);
  // /usr is always visible in the jail, so folders below it are left out.
  std::erase_if(folders, [](const std::string& folder) { return folder.starts_with("/usr/"); });
  return folders;
}

Status become_ncu(const std::string& ncu, const std::string& launcher,
                  const std::vector<std::string>& arguments) {
  return become_tool(ncu_command(ncu, launcher, arguments), launcher);
}

}  // namespace assay::sandbox
