// Reads the report of one run, or of several runs of one configuration, from a store. It does not
// change the store and needs no device.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "base/result.h"
#include "operators/catalog.h"
#include "server/report/model/rows.h"

namespace assay::server {

/// `run` empty: the newest run. Errors: not_found, no such run, naming the newest runs; io, there
/// is no store file; unavailable or corrupt, the store cannot be used.
Result<report::Report> read_report(const std::filesystem::path& store,
                                   const operators::Catalog& catalog, const std::string& run);

/// Like above for several runs; see report::make_report() for valid combinations. Empty: the newest
/// run.
Result<report::Report> read_report(const std::filesystem::path& store,
                                   const operators::Catalog& catalog,
                                   const std::vector<std::string>& runs);

/// The runs themselves, in the order of `runs`. Empty: the newest run. Errors as above.
Result<std::vector<tools::Scorecard>> read_runs(const std::filesystem::path& store,
                                                const operators::Catalog& catalog,
                                                const std::vector<std::string>& runs);

/// The submitted source of every row that has a job, by job.
Result<std::map<std::string, std::string>> read_sources(const std::filesystem::path& store,
                                                        const operators::Catalog& catalog,
                                                        const report::Report& report);

/// The exit status for such an error: kUnknownName, kUsage, kNoInput or kStoreUnusable.
int status_of_report_error(const Error& error);

}  // namespace assay::server
