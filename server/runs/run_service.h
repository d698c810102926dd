// Runs over the store: handles, tracks, budgets, usage, scorecards. Thread-safe: each rule is
// checked and applied in one transaction of the store. The catalog, the store and the clock must
// outlive it.
//
//   auto run = runs.start({.agent = "mine", .model = "m", .track = Track::one_shot, .suite =
//   "standard"}); Status allowed = runs.charge(run->handle, "vector_add", JobKind::test,
//   sha256_hex(source));
#pragma once

#include <string>
#include <vector>

#include "base/clock.h"
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
  Status charge(const std::string& run, const std::string& operator_name, sandbox::JobKind kind,
                const std::string& source_sha256) override;
  Result<tools::CallsLeft> calls_left(const std::string& run, const std::string& operator_name,
                                      sandbox::JobKind kind) override;
  Status report_usage(const std::string& run, const tools::Usage& usage) override;
  Result<tools::Scorecard> scorecard(const std::string& run) override;

 private:
  Status not_over(const tools::RunInfo& run) const;

  Store& store_;
  const operators::Catalog& catalog_;
  const Clock& clock_;
};

}  // namespace assay::server
