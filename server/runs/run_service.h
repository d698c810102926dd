// StoredRuns keeps scored runs in the store, with their handles, tracks, budgets, usage and
// scorecards. tools/model/tracks.h defines the rules of the tracks. Thread-safe. The store checks a
// budget and charges the call in one transaction, so two simultaneous calls cannot both be the last
// call that the budget allows. The catalog, the store and the clock must outlive this object.
//
//   const tools::RunRequest request{.agent = "mine", .model = "m"};
//   Result<tools::RunInfo> run = runs.start({.name = "alice"}, request);
//   job.run = run->handle;
//   job.caller = "alice";
//   const Result<std::string> accepted = runs.accept({.name = "alice"}, job, "cpu");  // job.id
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/rate_limiter.h"
#include "base/result.h"
#include "operators/catalog.h"
#include "server/store/store.h"
#include "tools/model/services.h"

namespace assay::server {

/// The limit on how often a principal may start runs. A run is kept for ever and takes a few KiB.
/// With the default, 200 agents of one principal can each start a run at the same moment. Without
/// tokens there is no limit, because such a server cannot tell its clients apart.
inline constexpr RateLimit kRunStarts = {.per_second = 2, .burst = 512};

class StoredRuns final : public tools::RunService {
 public:
  StoredRuns(Store& store, const operators::Catalog& catalog, const Clock& clock,
             const RateLimit& starts = kRunStarts, std::string practice_only = "")
      : store_(store),
        catalog_(catalog),
        clock_(clock),
        starts_(starts, clock),
        practice_only_(std::move(practice_only)) {}

  Result<tools::RunInfo> start(const tools::Principal& principal,
                               const tools::RunRequest& request) override;
  Result<tools::RunInfo> find(const tools::Principal& principal, const std::string& run) override;
  Result<tools::CallsLeft> calls_left(const tools::Principal& principal, const std::string& run,
                                      const std::string& operator_name,
                                      sandbox::JobKind kind) override;
  Status report_usage(const tools::Principal& principal, const std::string& run,
                      const tools::Usage& usage) override;
  Result<tools::Scorecard> scorecard(const tools::Principal& principal,
                                     const std::string& run) override;
  /// Returns the scorecard of a run, whoever owns it. Only the commands of the operator of this
  /// server, such as `assay report`, may call this function.
  Result<tools::Scorecard> scorecard_for_operator(const std::string& run);

  /// Checks that the principal may change the run, and that the job keeps the rules of `job.run`.
  /// Then charges the run and stores the job for `device`. If the job breaks a rule, stores nothing
  /// and returns an error that states the rule. A job without a run is stored without checks. The
  /// owner of the job, `job.caller`, must be the principal. Returns the handle of the job.
  Result<std::string> accept(const tools::Principal& principal, const sandbox::Job& job,
                             const std::string& device);
  /// Does the same for several jobs in one transaction. Returns the answer to each job. If a call
  /// repeats an earlier one (OfferedJob::call_id), its answer is the handle of the earlier job.
  std::vector<Result<std::string>> accept_all(const tools::Principal& principal,
                                              std::vector<OfferedJob> jobs);
  /// Returns the job of an earlier call that this call repeats, or "" if it is a new call. The
  /// answer to a repeated call depends on neither budgets, the end of the run, nor queues.
  Result<std::string> job_of_repeat(const tools::Principal& principal, const sandbox::Job& job,
                                    const std::string& call_id);
  /// Returns an error if the principal lacks the scope that the run's track needs.
  Status check_scope_of(const tools::Principal& principal, const std::string& run);

 private:
  /// Returns the run. If `owner` has a value, finds only runs of this principal.
  Result<tools::RunInfo> find_of(const std::optional<std::string>& owner, const std::string& run);
  Result<tools::Scorecard> card_of(tools::RunInfo info);
  /// Returns 0 and counts a start, or the time until the principal may start its next run.
  std::chrono::milliseconds wait_to_start(const tools::Principal& principal);
  Status not_over(const tools::RunInfo& run);
  /// Returns the job's run if the principal may charge the job to it.
  Result<tools::RunInfo> charged_run(const tools::Principal& principal, const sandbox::Job& job);
  /// Returns the error for an acceptance that was refused.
  static Status error_of(const Acceptance& stored, const tools::RunInfo& run,
                         const OfferedJob& offered);

  Store& store_;
  const operators::Catalog& catalog_;
  const Clock& clock_;
  RateLimiter starts_;               // by the name of the principal
  const std::string practice_only_;  // why no scored run can start; empty: it can
};

/// Returns an error if a `call_id` is too long.
Status check_call_id(const std::string& id);

/// Returns how many calls of this kind the budgets allow for each operator. -1 means that the
/// number is unlimited.
std::int64_t limit_of(const tools::Budgets& budgets, sandbox::JobKind kind);

/// Returns the operators of a suite in the order of the catalog, without duplicates. `suite` is
/// "all", a split, or a list separated by commas, such as "softmax_last_dim,vector_add". If a name
/// is unknown, the error's message lists the unknown names and the valid splits.
Result<std::vector<std::string>> resolve_suite(const std::string& suite,
                                               const operators::Catalog& catalog);

}  // namespace assay::server
