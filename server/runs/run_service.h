// StoredRuns keeps scored runs in the store, with their handles, tracks, budgets, usage and
// scorecards. tools/model/tracks.h defines the rules of the tracks. Thread-safe. The store checks a
// budget and charges the call in one transaction, so two simultaneous calls cannot both be the last
// call that the budget allows. The catalog, the store and the clock must outlive this object.
//
//   Result<tools::RunInfo> run =
//       runs.start({.agent = "mine", .model = "m", .track = tools::Track::one_shot});
//   job.run = run->handle;
//   const Status accepted = runs.accept(job, "cpu");
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "operators/catalog.h"
#include "server/store/store.h"
#include "tools/model/services.h"

namespace assay::server {

class StoredRuns final : public tools::RunService {
 public:
  StoredRuns(Store& store, const operators::Catalog& catalog, const Clock& clock)
      : store_(store), catalog_(catalog), clock_(clock) {}

  Result<tools::RunInfo> start(const tools::RunRequest& request) override;
  Result<tools::RunInfo> find(const std::string& run) override;
  Result<tools::CallsLeft> calls_left(const std::string& run, const std::string& operator_name,
                                      sandbox::JobKind kind) override;
  Status report_usage(const std::string& run, const tools::Usage& usage) override;
  Result<tools::Scorecard> scorecard(const std::string& run) override;

  /// Checks the job against the rules of `job.run`, charges the run and stores the job for
  /// `device`. If the job breaks a rule, stores nothing and returns an error that states the rule.
  /// A job without a run is stored without checks.
  Status accept(const sandbox::Job& job, const std::string& device);

 private:
  Status not_over(const tools::RunInfo& run) const;

  Store& store_;
  const operators::Catalog& catalog_;
  const Clock& clock_;
};

/// Returns how many calls of this kind the budgets allow for each operator. -1 means that the
/// number is unlimited.
std::int64_t limit_of(const tools::Budgets& budgets, sandbox::JobKind kind);

/// Returns the operators of a suite in the order of the catalog, without duplicates. `suite` is
/// "all", a split, or a list separated by commas, such as "softmax_last_dim,vector_add". If a name
/// is unknown, the error's message lists the unknown names and the valid splits.
Result<std::vector<std::string>> resolve_suite(const std::string& suite,
                                               const operators::Catalog& catalog);

}  // namespace assay::server
