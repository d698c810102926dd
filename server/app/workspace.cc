#include "server/app/workspace.h"

#include <filesystem>
#include <system_error>
#include <utility>

#include "server/app/exit_status.h"

namespace assay::server {

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

}  // namespace assay::server
