// Reads a launch plan that the command line names: a file with the plan's bytes, or the handle of
// an artifact in a store. It also finds the case for which the plan was recorded: a plan contains
// the sizes of its arguments, but not the name of its case. Thread-safe.
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
/// `store`. Errors: not_found if there is no such file, store or artifact; corrupt if it is not a
/// plan, and the message gives the position of the first wrong byte; unavailable if the store
/// cannot be read.
Result<StoredPlan> read_plan(const std::string& where, const std::filesystem::path& store);

/// Returns the exit status for an error of read_plan().
int status_of_plan_error(const Error& error);

/// A value of `--plan`. "square=plans/square.plan" names its case; "plans/square.plan" does not.
struct NamedPlan {
  std::string case_id;  // empty: case_of_plan() finds the case
  std::string where;    // the argument for read_plan()
};
NamedPlan named_plan(const operators::Operator& op, const std::string& word);

/// Returns the case whose tensors have the same sizes as the plan's inputs. If several cases have
/// these sizes and one of them is public, returns the public case. Error: invalid_argument if no
/// case or several public or several hidden cases have these sizes. The message names the cases.
Result<std::string> case_of_plan(const operators::Operator& op, const sandbox::Plan& plan);

}  // namespace assay::server
