#include "server/cli/bench_options.h"

#include <algorithm>
#include <cctype>

namespace assay::server {
namespace {

std::vector<std::string> comma_separated(const std::string& text) {
  std::vector<std::string> names;
  for (std::size_t at = 0; at <= text.size();) {
    const std::size_t end = std::min(text.find(',', at), text.size());
    std::string name = text.substr(at, end - at);
    name.erase(0, std::min(name.find_first_not_of(' '), name.size()));
    name.erase(name.find_last_not_of(' ') + 1);
    if (!name.empty() && std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
    at = end + 1;
  }
  return names;
}

Result<std::string> checked_list(const BenchOptions& options, const operators::Catalog* catalog) {
  std::string suite;
  for (const std::string& name : comma_separated(options.operators)) {
    if (catalog != nullptr) {
      const operators::Operator* found = catalog->find(name);
      if (found == nullptr) return fail(catalog->unknown(name));
      if (!options.split.empty() && operators::to_string(found->split) != options.split) {
        return fail(ErrorCode::invalid_argument,
                    "operator '" + name + "' is in split " + std::string(operators::to_string(found->split)) + ", not in " + options.split);
      }
    }
    suite += (suite.empty() ? "" : ",") + name;
  }
  if (suite.empty()) return fail(ErrorCode::invalid_argument, "--operators names no operator; valid: a comma-separated list, e.g. vector_add,gelu_tanh");
  return suite;
}

}  // namespace

Status check_device_name(const std::string& device) {
  const bool cuda = device.starts_with("cuda:") && device.size() > 5 && device.size() <= 8 && device.find_first_not_of("0123456789", 5) == std::string::npos;
  if (cuda || device == "cpu" || device == "fake") return {};
  return fail(ErrorCode::not_found, "unknown device '" + device + "'; valid: cpu, cuda:N, fake");
}

Result<std::string> suite_of(const BenchOptions& options, const operators::Catalog* catalog, const std::vector<std::string>& answerable) {
  const bool known_split = options.split.empty() || options.split == "standard" || options.split == "ood" || options.split == "dsl";
  if (!known_split) return fail(ErrorCode::not_found, "unknown split '" + options.split + "'; valid: standard, ood, dsl");
  if (!options.operators.empty()) return checked_list(options, catalog);
  std::string chosen;
  for (const std::string& name : answerable) {
    const operators::Operator* found = catalog == nullptr ? nullptr : catalog->find(name);
    const bool wanted = found != nullptr && (options.split.empty() || operators::to_string(found->split) == options.split);
    if (wanted) chosen += (chosen.empty() ? "" : ",") + name;
  }
  if (!chosen.empty()) return chosen;
  return options.split.empty() ? "all" : options.split;
}

std::filesystem::path bench_directory(const BenchOptions& options) {
  if (!options.out.empty()) return options.out;
  std::string name = options.agent + "_" + options.model;
  for (char& character : name) {
    if (std::isalnum(static_cast<unsigned char>(character)) == 0 && character != '.' && character != '-') character = '_';
  }
  return std::filesystem::path("bench-out") / name;
}

}  // namespace assay::server
