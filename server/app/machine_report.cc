#include "server/app/machine_report.h"

#include <pwd.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string_view>
#include <utility>

namespace assay::server {
namespace {

// The variables that change which GPUs HIP shows, or as what it treats them.
constexpr std::array kVariables = {"HIP_VISIBLE_DEVICES", "ROCR_VISIBLE_DEVICES",
                                   "CUDA_VISIBLE_DEVICES", "HSA_OVERRIDE_GFX_VERSION"};

constexpr std::size_t kPasswdBytes = 16 << 10;  // of a user's entry

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

/// A path ends before one of these characters.
constexpr std::string_view kNoPath = " \t\r\n\"'`:;,=()[]{}<>|";

/// Returns the home folders of the user who runs this process.
std::vector<std::string> own_homes() {
  std::vector<std::string> homes;
  if (const char* home = std::getenv("HOME"); home != nullptr) homes.emplace_back(home);
  std::array<char, kPasswdBytes> bytes{};
  passwd entry{};
  passwd* found = nullptr;
  // A user without an entry has no other home folder.
  if (::getpwuid_r(::getuid(), &entry, bytes.data(), bytes.size(), &found) == 0 &&
      found != nullptr && found->pw_dir != nullptr)
    homes.emplace_back(found->pw_dir);
  return homes;
}

/// Returns the value with `~` for home folders in all texts and names.
nlohmann::json without_homes_in(const nlohmann::json& value,
                                const std::vector<std::string>& homes) {
  if (value.is_string()) return without_homes(value.get<std::string>(), homes);
  if (value.is_array()) {
    nlohmann::json changed = nlohmann::json::array();
    for (const nlohmann::json& one : value) changed.push_back(without_homes_in(one, homes));
    return changed;
  }
  if (!value.is_object()) return value;
  nlohmann::json changed = nlohmann::json::object();
  for (const auto& [name, one] : value.items())
    changed[without_homes(name, homes)] = without_homes_in(one, homes);
  return changed;
}

}  // namespace

std::string without_homes(std::string text, const std::vector<std::string>& homes) {
  for (std::string home : homes) {
    while (home.ends_with('/')) home.pop_back();
    if (!home.starts_with('/')) continue;
    std::size_t at = 0;
    while ((at = text.find(home, at)) != std::string::npos) {
      const std::size_t end = at + home.size();
      const bool begins = at == 0 || kNoPath.find(text[at - 1]) != std::string_view::npos;
      const bool ends = end == text.size() || text[end] == '/' ||
                        kNoPath.find(text[end]) != std::string_view::npos;
      if (begins && ends) text.replace(at, home.size(), "~");
      ++at;
    }
  }
  for (const std::string_view folder : {"/home/", "/Users/"}) {
    std::size_t at = 0;
    while ((at = text.find(folder, at)) != std::string::npos) {
      const std::size_t name = at + folder.size();
      const std::size_t end =
          std::min({text.find('/', name), text.find_first_of(kNoPath, name), text.size()});
      const std::size_t before = text.find_last_of(kNoPath, at);
      const std::size_t begin = before == std::string::npos ? 0 : before + 1;
      if (end > name) text.replace(begin, end - begin, "~");
      at = end > name ? begin + 1 : name;
    }
  }
  return text;
}

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
  const std::vector<std::string> homes = own_homes();
  nlohmann::json report = {{"format", kMachineReportFormat},
                           {"doctor", without_homes_in(doctor, homes)},
                           {"amd", without_homes_in(amd_json(sandbox::read_amd_machine()), homes)},
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
