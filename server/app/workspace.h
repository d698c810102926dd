// The workspace of a command: where Assay's parts are, and the catalog of operators.
#pragma once

#include <optional>
#include <string>

#include "operators/catalog.h"
#include "server/app/paths.h"

namespace assay::server {

struct Workspace {
  Paths paths;
  operators::Catalog catalog;
};

/// Finds the paths and loads the catalog, from `suite` (a folder like operators/) if it is not
/// empty. On an error: prints it as `command`'s, sets `status` and returns nullopt.
std::optional<Workspace> open_workspace(const std::string& command, int& status,
                                        const std::string& suite = "");

}  // namespace assay::server
