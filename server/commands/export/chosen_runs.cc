#include "server/commands/export/chosen_runs.h"

#include <optional>
#include <set>
#include <utility>

namespace assay::server {

Result<ChosenRuns> choose_runs(Store& store, bool all, const std::vector<std::string>& handles) {
  std::vector<tools::RunInfo> named;
  if (all) {
    ASSAY_TRY(known, store.runs());
    named = std::move(known);
  }
  for (const std::string& handle : handles) {
    ASSAY_TRY(run, store.run(handle, std::nullopt));
    named.push_back(std::move(run));
  }
  ChosenRuns chosen;
  std::set<std::string> seen;
  for (tools::RunInfo& run : named) {
    if (!seen.insert(run.handle).second) continue;
    ASSAY_TRY(provenance, store.provenance(run.handle));
    if (provenance.empty())
      chosen.runs.push_back(std::move(run));
    else
      ++chosen.imported;
  }
  return chosen;
}

std::string imported_runs_text(std::size_t runs) {
  return "left out: " + std::to_string(runs) +
         " runs whose verdicts were imported from a file, because they were not judged here";
}

}  // namespace assay::server
