// Groups the runs of one or more stores into the lines of a leaderboard. Runs of the same agent,
// model, track, suite, operators, device class, origin and
// provenance are samples of one group. Also says which
// groups have a rank. Pure functions.
//
//   const std::vector<std::vector<std::size_t>> groups = group_runs(runs);
//   const std::vector<std::string> reasons = why_unranked(report, checks);  // empty: ranked
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "server/report/model/rows.h"
#include "server/site/claims.h"
#include "tools/model/services.h"

namespace assay::site {

/// A run with what decides about its group.
struct SiteRun {
  tools::RunInfo info;
  std::size_t store = 0;        // the index of the store
  std::string device_class;     // the name of the device, for example "NVIDIA H200"
  std::string origin = {};      // the fingerprint of a bundle's key; empty: a store
  std::string provenance = {};  // where imported verdicts are from; empty: the run was made here
};

/// The device class of a run without any verdict.
inline constexpr const char* kNoDevice = "none";

/// Returns the indexes of the runs of each group. Groups and the runs of a group are in the order
/// of `runs`.
std::vector<std::vector<std::size_t>> group_runs(const std::vector<SiteRun>& runs);

/// Returns why the group has no rank: "no_model" (no model answered), "practice" (an unscored
/// track), "host_tier" (a right submission was judged on the host tier, where attribution is weaker
/// than with launch plans), "several_suites" (the operators changed while the runs went on),
/// "disputed" (a judgement here contradicts an attempt of a bundle), "claimed" (nobody has verified
/// a right attempt of a bundle). `checks` has one check for each row of the report. Returns an
/// empty list if the group has a rank.
std::vector<std::string> why_unranked(const report::Report& report,
                                      const std::vector<Check>& checks);

}  // namespace assay::site
