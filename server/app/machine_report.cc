#include "server/app/machine_report.h"

#include <array>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <utility>

namespace assay::server {
namespace {

// The variables that change which GPUs HIP shows, or as what it treats them.
constexpr std::array kVariables = {"HIP_VISIBLE_DEVICES", "ROCR_VISIBLE_DEVICES",
                                   "CUDA_VISIBLE_DEVICES", "HSA_OVERRIDE_GFX_VERSION"};

Result<nlohmann::json> read_result(const std::string& path) {
  std::error_code error;
  const std::uintmax_t bytes = std::filesystem::file_size(path, error);
  if (error) return fail(ErrorCode::not_found, path + ": " + error.message());
  if (bytes > kMaxResultBytes)
    return fail(ErrorCode::invalid_argument, path + " has " + std::to_string(bytes) +
                                                 " bytes; a file of results has at most " +
                                                 std::to_string(kMaxResultBytes));
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  if (!file) return fail(ErrorCode::io, "cannot read " + path);
  nlohmann::json parsed = nlohmann::json::parse(text.str(), nullptr, /*allow_exceptions=*/false);
  if (!parsed.is_object())
    return fail(ErrorCode::invalid_argument, path + " is not a JSON object, so it has no results");
  return parsed;
}

}  // namespace

nlohmann::json amd_json(const sandbox::AmdMachine& machine) {
  nlohmann::json gpus = nlohmann::json::array();
  for (const sandbox::AmdGpu& gpu : machine.gpus)
    gpus.push_back(
        {{"target", gpu.target}, {"render", gpu.render}, {"accessible", gpu.accessible}});
  nlohmann::json variables = nlohmann::json::object();
  for (const char* name : kVariables) {
    const char* value = std::getenv(name);
    variables[name] = value == nullptr ? nlohmann::json() : nlohmann::json(value);
  }
  return {{"compute",
           {{"path", machine.compute},
            {"exists", machine.has_compute},
            {"accessible", machine.compute_accessible}}},
          {"gpus", gpus},
          {"problem", sandbox::amd_problem(machine)},
          {"variables", variables}};
}

Status write_machine_report(const std::string& path, const nlohmann::json& doctor,
                            const std::vector<std::string>& results) {
  nlohmann::json report = {{"format", kMachineReportFormat},
                           {"doctor", doctor},
                           {"amd", amd_json(sandbox::read_amd_machine())},
                           {"results", nlohmann::json::object()}};
  for (const std::string& one : results) {
    Result<nlohmann::json> read = read_result(one);
    if (!read) return fail(read.error());
    report["results"][std::filesystem::path(one).filename().string()] = std::move(*read);
  }
  std::ofstream file(path, std::ios::binary | std::ios::trunc);
  file << report.dump(1, ' ', false, nlohmann::json::error_handler_t::replace) << '\n';
  file.close();
  if (!file) return fail(ErrorCode::io, "cannot write the report to " + path);
  return {};
}

}  // namespace assay::server
