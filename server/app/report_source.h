// Reads the report of one run, or of several that are samples of one configuration, from a store:
// without changing the store, without any device.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "base/result.h"
#include "operators/catalog.h"
#include "server/report/model/rows.h"

namespace assay::server {

/// `run` empty: the newest run. not_found when there is no such run, or no run at all; the message
/// names the newest ones. io when there is no store file; unavailable or corrupt when it cannot be
/// used.
Result<Report> read_report(const std::filesystem::path& store, const operators::Catalog& catalog,
                           const std::string& run);

/// The same of several runs (make_report() says which go together); none: the newest one.
Result<Report> read_report(const std::filesystem::path& store, const operators::Catalog& catalog,
                           const std::vector<std::string>& runs);

/// The runs themselves, in the order of `runs`; none: the newest one. Errors as above.
Result<std::vector<tools::Scorecard>> read_runs(const std::filesystem::path& store,
                                                const operators::Catalog& catalog,
                                                const std::vector<std::string>& runs);

/// What was submitted, by job, for every row that has one.
Result<std::map<std::string, std::string>> read_sources(const std::filesystem::path& store,
                                                        const operators::Catalog& catalog,
                                                        const Report& report);

/// kUnknownName, kUsage, kNoInput or kStoreUnusable.
int status_of_report_error(const Error& error);

}  // namespace assay::server
