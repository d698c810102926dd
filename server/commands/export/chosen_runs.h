// Chooses the runs that an export writes.
//
//   const Result<ChosenRuns> chosen = choose_runs(store, all, {"run_..."});
//   if (chosen && chosen->imported > 0) stderr_line(imported_runs_text(chosen->imported));
//
// Thread-safe.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "base/result.h"
#include "server/store/store.h"
#include "tools/model/services.h"

namespace assay::server {

struct ChosenRuns {
  std::vector<tools::RunInfo> runs;  // without duplicates
  std::size_t imported = 0;          // runs that are left out, because they were not judged here
};

/// Returns all runs of the store if `all` is true, and the runs with these handles. Error:
/// not_found if there is no run with a handle.
Result<ChosenRuns> choose_runs(Store& store, bool all, const std::vector<std::string>& handles);

/// Returns the line that says how many runs are left out because they were judged elsewhere.
std::string imported_runs_text(std::size_t runs);

}  // namespace assay::server
