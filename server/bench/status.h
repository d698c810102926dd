// Prints the results at the end of a bench: its reports and their comparison, the differences of a
// replay, and the unfinished attempts. Also computes the exit status (docs/reference/cli.md lists
// them).
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

/// These functions return the exit status of a bench that cannot start. Each function is for the
/// errors of one step.
int status_of_option_error(const Error& error);
int status_of_setup_error(const BenchOptions& options, const Error& error);
int status_of_price_error(const Error& error);
int status_of_journal_error(const Error& error);
int status_of_start_error(const Error& error);

/// Returns a report for each pair over all its samples, and a table that compares the pairs. The
/// reports are read from the store of the server that the bench started. Errors: the errors of
/// read_report().
Result<std::string> reports_text(const std::filesystem::path& store,
                                 const operators::Catalog& catalog,
                                 const std::vector<PairEnd>& ends);

/// Returns the results from a running server: the scorecard of each run, and a comparison that is
/// computed from the scorecards.
Result<std::string> reports_text(mcp::Client& client, const BenchPlan& plan,
                                 const std::vector<PairEnd>& ends);

/// Prints to stdout how the attempts of a replay differ from the recorded attempts. Returns kFail
/// if an attempt differs, kBadData if a journal cannot be read.
int print_replay(const BenchPlan& plan);

/// Prints to stderr how many attempts are unfinished and why, and returns kError. If all attempts
/// are finished, returns `status`.
int print_unfinished(const BenchPlan& plan, const std::vector<PairEnd>& ends, int status);

}  // namespace assay::bench
