#include "server/app/common.h"

#include <cstdio>
#include <filesystem>
#include <system_error>
#include <utility>

namespace assay::server {

int print_error(const std::string& command, int status, const std::string& message) {
  std::fprintf(stderr, "assay %s: %s\n", command.c_str(), message.c_str());
  return status;
}

std::optional<Workspace> open_workspace(const std::string& command, int& status,
                                        const std::string& suite) {
  Result<Paths> paths = find_paths();
  if (!paths) {
    status = print_error(command, kBadConfig, paths.error().message);
    return std::nullopt;
  }
  std::error_code error;
  std::filesystem::create_directories(paths->state, error);
  if (error) {
    status = print_error(command, kStoreUnusable,
                         "the state directory " + paths->state.string() + " cannot be made: " +
                             error.message() + "; ASSAY_STATE_DIR names another");
    return std::nullopt;
  }
  Result<operators::Catalog> catalog =
      operators::Catalog::load(suite.empty() ? paths->operators() : std::filesystem::path(suite));
  if (!catalog) {
    status = print_error(command, kBadConfig, catalog.error().message);
    return std::nullopt;
  }
  return Workspace{std::move(*paths), std::move(*catalog)};
}

Result<IsolationChoice> isolation_from(const std::string& text) {
  IsolationChoice choice;
  std::string rest = text + ",";
  while (!rest.empty()) {
    const std::string word = rest.substr(0, rest.find(','));
    rest.erase(0, word.size() + 1);
    if (word == "strict")
      choice.isolation = sandbox::Isolation::strict;
    else if (word == "spawn")
      choice.spawn = true;
    else if (word != "best-effort")
      return fail(
          ErrorCode::invalid_argument,
          "unknown isolation '" + word + "'; valid: strict, best-effort, spawn, strict,spawn");
  }
  return choice;
}

int status_of_device_error(const Error& error) {
  return error.code == ErrorCode::invalid_argument || error.code == ErrorCode::not_found
             ? kUnknownName
             : kUnavailable;
}

}  // namespace assay::server
