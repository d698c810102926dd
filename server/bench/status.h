// The end of a bench: its reports, their comparison, the differences of a replay, the unfinished
// attempts, and the exit status (docs/reference/cli.md has the table).
//
//   Result<std::string> reports = reports_text(store, catalog, ends);
//   return print_unfinished(plan, ends, status);
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "base/result.h"
#include "operators/catalog.h"
#include "server/bench/options.h"
#include "server/bench/plan.h"
#include "server/mcp/client/client.h"

namespace assay::bench {

/// These functions return the exit status of a bench that cannot start. Each is for one step.
int status_of_option_error(const Error& error);
int status_of_setup_error(const BenchOptions& options, const Error& error);
int status_of_price_error(const Error& error);
int status_of_journal_error(const Error& error);
int status_of_start_error(const Error& error);

/// Returns a report for each pair over all its samples, and a table that compares the pairs. It
/// reads the store of the bench's own server. Errors: those of read_report().
Result<std::string> reports_text(const std::filesystem::path& store,
                                 const operators::Catalog& catalog,
                                 const std::vector<PairEnd>& ends);

/// Returns the same from a running server: the scorecard of each run, and a comparison that is
/// computed from the scorecards.
Result<std::string> reports_text(mcp::Client& client, const BenchPlan& plan,
                                 const std::vector<PairEnd>& ends);

/// Prints to stdout the attempts of a replay that differ from the recorded ones. Returns kFail if
/// there is one, kBadData if a journal cannot be read.
int print_replay(const BenchPlan& plan);

/// Prints to stderr how many attempts are not finished and why, and returns kError. Returns
/// `status` if all are finished.
int print_unfinished(const BenchPlan& plan, const std::vector<PairEnd>& ends, int status);

}  // namespace assay::bench
