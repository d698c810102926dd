// Reads the reports of runs from a store, and adds CodeBLEU to the reports. The functions do not
// change the store and need no device. Thread-safe.
//
//   Result<report::Report> report = read_report(store, catalog, "");  // "": the newest run
//   Result<std::map<std::string, std::string>> sources = read_sources(store, catalog, *report);
//   Status done = add_similarity(*report, *sources, catalog, paths);
//
// metrics/codebleu.py computes CodeBLEU. It parses sources and oracles and never runs them. It is a
// separate process with limits, because a submission can contain anything and Python's parser is
// not designed for hostile input.
#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "operators/catalog.h"
#include "server/app/workspace.h"
#include "server/report/model/rows.h"
#include "server/runs/services.h"
#include "server/store/store.h"

namespace assay::server {

/// Opens the store for reading, without devices. Errors: io if there is no store file; unavailable
/// or corrupt if the store is unusable.
Result<std::unique_ptr<ServerServices>> open_store_to_read(const std::filesystem::path& store,
                                                           const operators::Catalog& catalog);

/// Returns the report of `run`, or of the newest run if `run` is empty. Errors: not_found if there
/// is no such run, with a message that names the newest runs; io if there is no store file;
/// unavailable or corrupt if the store is unusable.
Result<report::Report> read_report(const std::filesystem::path& store,
                                   const operators::Catalog& catalog, const std::string& run);

/// Returns one report that combines several runs. If `runs` is empty, returns the report of the
/// newest run. report::make_report() says which runs can be combined.
Result<report::Report> read_report(const std::filesystem::path& store,
                                   const operators::Catalog& catalog,
                                   const std::vector<std::string>& runs);

/// Returns the scorecards of the runs in the order of `runs`, or of the newest run if `runs` is
/// empty. Errors: the errors of read_report().
Result<std::vector<tools::Scorecard>> read_runs(const std::filesystem::path& store,
                                                const operators::Catalog& catalog,
                                                const std::vector<std::string>& runs);

/// Returns all runs of the store, newest first. Errors: io if there is no store file; unavailable
/// or corrupt if the store is unusable.
Result<std::vector<tools::RunInfo>> list_runs(const std::filesystem::path& store,
                                              const operators::Catalog& catalog);

/// Returns the job with this handle, whoever owns it. Errors: those of list_runs(); not_found if
/// there is no such job.
Result<StoredJob> read_job(const std::filesystem::path& store, const operators::Catalog& catalog,
                           const std::string& job);

/// Returns the submitted sources, by the handle of their job. A row of the report that has no job
/// has no source.
Result<std::map<std::string, std::string>> read_sources(const std::filesystem::path& store,
                                                        const operators::Catalog& catalog,
                                                        const report::Report& report);

/// Returns the exit status for an error of the functions above: kUnknownName, kUsage, kNoInput or
/// kStoreUnusable.
int status_of_report_error(const Error& error);

inline constexpr int kSimilarityWallMs = 600'000;  // the time limit for all rows together

/// Sets ReportRow::similarity and ReportTotals::similarity. A row has no value if it has no Python
/// source or its source cannot be compared. Error: unavailable if the program fails.
Status add_similarity(report::Report& report, const std::map<std::string, std::string>& sources,
                      const operators::Catalog& catalog, const Paths& paths);

}  // namespace assay::server
