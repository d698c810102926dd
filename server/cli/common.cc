#include "server/cli/common.h"

#include <cstdio>
#include <filesystem>
#include <system_error>
#include <utility>

namespace assay::server {

int complain(const std::string& command, int status, const std::string& message) {
  std::fprintf(stderr, "assay %s: %s\n", command.c_str(), message.c_str());
  return status;
}

std::optional<Workspace> open_workspace(const std::string& command, int& status) {
  Result<Paths> paths = find_paths();
  if (!paths) {
    status = complain(command, kBadConfig, paths.error().message);
    return std::nullopt;
  }
  std::error_code error;
  std::filesystem::create_directories(paths->state, error);
  if (error) {
    status = complain(command, kStoreUnusable, "the state directory " + paths->state.string() + " cannot be made: " + error.message() + "; ASSAY_STATE_DIR names another");
    return std::nullopt;
  }
  Result<operators::Catalog> catalog = operators::Catalog::load(paths->operators());
  if (!catalog) {
    status = complain(command, kBadConfig, catalog.error().message);
    return std::nullopt;
  }
  return Workspace{std::move(*paths), std::move(*catalog)};
}

Result<sandbox::Isolation> isolation_from(const std::string& text) {
  if (text == "strict") return sandbox::Isolation::strict;
  if (text == "best-effort") return sandbox::Isolation::best_effort;
  return fail(ErrorCode::invalid_argument, "unknown isolation '" + text + "'; valid: strict, best-effort");
}

int status_of_device_error(const Error& error) {
  return error.code == ErrorCode::invalid_argument || error.code == ErrorCode::not_found ? kUnknownName : kUnavailable;
}

}  // namespace assay::server
