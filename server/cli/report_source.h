// Reads one run's report from a store, without changing the store and without any device.
#pragma once

#include <filesystem>
#include <string>

#include "base/result.h"
#include "operators/catalog.h"
#include "server/cli/report_rows.h"

namespace assay::server {

/// `run` empty: the newest run. not_found when there is no such run, or no run at all; the message names the newest ones. io when there
/// is no store file; unavailable or corrupt when it cannot be used.
Result<Report> read_report(const std::filesystem::path& store, const operators::Catalog& catalog, const std::string& run);

/// kUnknownName, kNoInput or kStoreUnusable.
int status_of_report_error(const Error& error);

}  // namespace assay::server
