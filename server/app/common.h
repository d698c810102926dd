// What several sub-commands need: the catalog, a device by name, a message and an exit status for
// an Error.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "base/result.h"
#include "operators/catalog.h"
#include "sandbox/job/config.h"
#include "server/app/exit_status.h"
#include "server/app/paths.h"

namespace assay::server {

/// Prints "assay COMMAND: MESSAGE" on stderr and returns `status`.
int print_error(const std::string& command, int status, const std::string& message);

/// The paths and the catalog, or nullopt after complaining, with `status` set. `suite`: a folder
/// like operators/ that is there instead; empty: operators/.
struct Workspace {
  Paths paths;
  operators::Catalog catalog;
};
std::optional<Workspace> open_workspace(const std::string& command, int& status,
                                        const std::string& suite = "");

/// What --isolation says.
struct IsolationChoice {
  sandbox::Isolation isolation = sandbox::Isolation::best_effort;
  bool spawn = false;
};
/// Accepts "strict", "best-effort" and "spawn", or one of the first two and "spawn" with a comma
/// between.
Result<IsolationChoice> isolation_from(const std::string& text);

/// kUnknownName for a name that is no device, kUnavailable for a device that cannot be used here.
int status_of_device_error(const Error& error);

}  // namespace assay::server
