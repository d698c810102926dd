// Prints the results at the end of a bench: reports, a comparison of the reports, the differences
// between a replay and the recording, and the unfinished attempts. Also computes the exit status of
// `assay bench` (docs/reference/cli.md lists the statuses).
//
//   Result<std::string> reports = reports_text(store, catalog, plan, ends);
//   return print_unfinished(plan, ends, status);
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "operators/catalog.h"
#include "server/bench/journal.h"
#include "server/bench/options.h"
#include "server/bench/plan.h"
#include "server/mcp/client/client.h"
#include "server/report/model/rows.h"

namespace assay::bench {

/// Each of these functions returns the exit status of a bench that cannot start because of `error`.
/// The function's name says in which step the error occurred.
int status_of_option_error(const Error& error);
int status_of_setup_error(const BenchOptions& options, const Error& error);
int status_of_price_error(const Error& error);
int status_of_journal_error(const Error& error);
int status_of_start_error(const Error& error);

/// Prints to stderr why the bench stopped, once for each reason. Prints nothing if every attempt
/// was started.
void say_why_stopped(const std::vector<PairEnd>& ends);

/// Returns why attempts of a bench have no submission, from its journal.
std::map<std::pair<std::int64_t, std::string>, report::NoSubmission> missing_in(
    const JournalContent& journal);

/// Returns a report for each pair of an agent and a model over all samples, and a table that
/// compares the pairs. A pair of which no attempt is finished has no report. The function reads the
/// results from the store of the server that the bench started. Errors: the errors of
/// read_report().
Result<std::string> reports_text(const std::filesystem::path& store,
                                 const operators::Catalog& catalog, const BenchPlan& plan,
                                 const std::vector<PairEnd>& ends);

/// Returns the results of a bench with --server: the scorecard of each run, and a comparison that
/// is computed from the scorecards.
Result<std::string> reports_text(mcp::Client& client, const BenchPlan& plan,
                                 const std::vector<PairEnd>& ends);

/// Prints to stdout how the attempts of a replay differ from the recorded attempts. Returns kFail
/// if an attempt differs, kBadData if a journal cannot be read.
int print_replay(const BenchPlan& plan);

/// Prints to stderr how many attempts are unfinished and why, and returns kError. If all attempts
/// are finished, returns `status`.
int print_unfinished(const BenchPlan& plan, const std::vector<PairEnd>& ends, int status);

}  // namespace assay::bench
