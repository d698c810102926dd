// StoredRuns keeps scored runs in the store: handles, tracks, budgets, usage, scorecards.
// Thread-safe: one transaction of the store checks a budget and charges it. The catalog, the store
// and the clock must outlive it.
//
//   auto run = runs.start({.agent = "mine", .model = "m", .track = Track::one_shot});
//   job.run = run->handle;
//   Status accepted = runs.accept(job, "cpu");
//
// Looks up a run's budgets, and resolves the operators of a suite. tools/model/tracks.h has the
// tracks. Pure functions, thread-safe.
//
//   limit_of(run.budgets, JobKind::test)
//   resolve_suite("softmax_last_dim,vector_add", catalog)
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

  /// Checks the rules of `job.run`, charges it and stores the job for `device`, or refuses with the
  /// rule and stores nothing. A job without a run is only stored.
  Status accept(const sandbox::Job& job, const std::string& device);

 private:
  Status not_over(const tools::RunInfo& run) const;

  Store& store_;
  const operators::Catalog& catalog_;
  const Clock& clock_;
};

/// The calls of this kind that the budgets allow per operator; -1 is unlimited.
std::int64_t limit_of(const tools::Budgets& budgets, sandbox::JobKind kind);

/// `suite` is "all", a split, or a comma-separated list. Returns the operators in catalog order,
/// each once. An error names the unknown operators and the splits.
Result<std::vector<std::string>> resolve_suite(const std::string& suite,
                                               const operators::Catalog& catalog);

}  // namespace assay::server
