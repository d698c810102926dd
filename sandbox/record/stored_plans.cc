#include "sandbox/record/stored_plans.h"

#include <utility>

namespace assay::sandbox {

std::optional<CandidateResults> stored_plans(JobExecution& run, const PreparedJob& prepared) {
  CandidateResults results;
  for (const PreparedCase& one : prepared.cases) {
    const auto found = run.job().plans.find(one.id);
    if (found == run.job().plans.end()) {
      run.fail(ErrorKind::invalid_plan, "case '" + one.id + "' has no stored plan");
      return std::nullopt;
    }
    CaseDone done;
    done.id = one.id;
    done.plan = found->second;
    results.cases.push_back(std::move(done));
  }
  return results;
}

}  // namespace assay::sandbox
