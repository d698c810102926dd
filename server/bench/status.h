// The end of a bench: reports and comparison, replay and unfinished attempts in words, and the exit
// status (docs/reference/cli.md has the table).
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

/// The exit status when a bench cannot start, by the step that failed.
int status_of_option_error(const Error& error);
int status_of_setup_error(const BenchOptions& options, const Error& error);
int status_of_price_error(const Error& error);
int status_of_journal_error(const Error& error);
int status_of_start_error(const Error& error);

/// A report for each pair over all its samples, and a table that compares the pairs, read from the
/// store of the bench's own server. Errors: those of read_report().
Result<std::string> reports_text(const std::filesystem::path& store,
                                 const operators::Catalog& catalog,
                                 const std::vector<PairEnd>& ends);

/// The same from a running server: its scorecard of each run, and a comparison computed from what
/// these say of each operator.
Result<std::string> reports_text(mcp::Client& client, const BenchPlan& plan,
                                 const std::vector<PairEnd>& ends);

/// Prints to stdout which attempts of a replay did not go as recorded. Returns kFail when there is
/// one, kBadData when a journal cannot be read.
int tell_replay(const BenchPlan& plan);

/// Prints to stderr how many attempts are not finished and why, and returns kError. Returns
/// `status` when all are finished.
int tell_unfinished(const BenchPlan& plan, const std::vector<PairEnd>& ends, int status);

}  // namespace assay::bench
