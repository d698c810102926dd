// The exit status for what keeps a bench from starting, by the step that failed
// (docs/reference/cli.md has the table). Pure functions.
#pragma once

#include "base/result.h"
#include "server/bench/options.h"

namespace assay::server {

int status_of_option_error(const Error& error);
int status_of_setup_error(const BenchOptions& options, const Error& error);
int status_of_price_error(const Error& error);
int status_of_journal_error(const Error& error);
int status_of_start_error(const Error& error);

}  // namespace assay::server
