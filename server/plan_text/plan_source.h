// Reads a launch plan that the command line names: a file with the plan's bytes, or an artifact of
// a store by its handle.
//
//   Result<StoredPlan> plan = read_plan("small-cuda-90.plan", store);
//   Result<StoredPlan> plan = read_plan("artifact_4kq7v0c2m9x1h5t8z3w6b0ndra", store);
#pragma once

#include <filesystem>
#include <string>

#include "base/result.h"
#include "sandbox/launcher/plan/plan.h"

namespace assay::server {

struct StoredPlan {
  std::string bytes;
  sandbox::Plan plan;  // the decoded bytes
};

/// `where`: a path, "-" for standard input, or the handle of an artifact in `store`. Errors:
/// not_found, no such file, store or artifact; corrupt, not a plan, naming the byte; unavailable,
/// the store cannot be read.
Result<StoredPlan> read_plan(const std::string& where, const std::filesystem::path& store);

/// The exit status for an error of read_plan().
int status_of_plan_error(const Error& error);

}  // namespace assay::server
