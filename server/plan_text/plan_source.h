// Reads a launch plan that the command line names. The plan is a file, or an artifact in a store
// that is named by its handle. The file's functions also find the case for which the plan was
// recorded, because a plan contains the sizes of its arguments, but not the name of its case.
// Thread-safe.
//
//   const NamedPlan given = named_plan(op, "artifact_4kq7v0c2m9x1h5t8z3w6b0ndra");
//   Result<StoredPlan> stored = read_plan(given.where, store);
//   Result<std::string> id = case_of_plan(op, stored->plan);
#pragma once

#include <filesystem>
#include <string>

#include "base/result.h"
#include "operators/catalog.h"
#include "sandbox/launcher/plan/plan.h"

namespace assay::server {

struct StoredPlan {
  std::string bytes;
  sandbox::Plan plan;  // the decoded bytes
};

/// Reads the plan at `where`: a path, "-" for standard input, or the handle of an artifact in
/// `store`. Errors: not_found if there is no such file, store or artifact; corrupt if the content
/// is not a plan, with a message that gives the position of the first wrong byte; unavailable if
/// the store cannot be read.
Result<StoredPlan> read_plan(const std::string& where, const std::filesystem::path& store);

/// Returns the exit status for an error of read_plan().
int status_of_plan_error(const Error& error);

/// A value of the option `--plan`. "square=plans/square.plan" names a case and a plan.
/// "plans/square.plan" names only a plan.
struct NamedPlan {
  std::string case_id;  // empty: case_of_plan() finds the case
  std::string where;    // the argument for read_plan()
};
NamedPlan named_plan(const operators::Operator& op, const std::string& word);

/// Returns the case whose tensors have the same sizes as the plan's inputs. If several cases have
/// these sizes, but only one of them is public, returns the public case. Otherwise it is unclear
/// which case is meant, or no case has these sizes. Then returns the error invalid_argument, whose
/// message names the cases.
Result<std::string> case_of_plan(const operators::Operator& op, const sandbox::Plan& plan);

}  // namespace assay::server
