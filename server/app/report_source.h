// Reads the reports of runs from a store, and adds CodeBLEU to them. It does not change the store
// and needs no device. Thread-safe.
//
//   Result<report::Report> report = read_report(store, catalog, "");  // of the newest run
//   Result<std::map<std::string, std::string>> sources = read_sources(store, catalog, *report);
//   Status done = add_similarity(*report, *sources, catalog, paths);
//
// metrics/codebleu.py computes CodeBLEU: it parses sources and oracles and never runs them. It is a
// process of its own with limits, because a submission can contain anything and Python's parser is
// not made for hostile input.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "base/result.h"
#include "operators/catalog.h"
#include "server/app/workspace.h"
#include "server/report/model/rows.h"

namespace assay::server {

/// Returns the report of `run`, or of the newest run if `run` is empty. Errors: not_found, there is
/// no such run (the message names the newest runs); io, there is no store file; unavailable or
/// corrupt, the store cannot be used.
Result<report::Report> read_report(const std::filesystem::path& store,
                                   const operators::Catalog& catalog, const std::string& run);

/// Returns one report of several runs, or of the newest run if `runs` is empty.
/// report::make_report() lists which runs can be in one report.
Result<report::Report> read_report(const std::filesystem::path& store,
                                   const operators::Catalog& catalog,
                                   const std::vector<std::string>& runs);

/// Returns the runs themselves, in the order of `runs`, or the newest run if `runs` is empty.
/// Errors as above.
Result<std::vector<tools::Scorecard>> read_runs(const std::filesystem::path& store,
                                                const operators::Catalog& catalog,
                                                const std::vector<std::string>& runs);

/// Returns the submitted source of every row that has a job, by job.
Result<std::map<std::string, std::string>> read_sources(const std::filesystem::path& store,
                                                        const operators::Catalog& catalog,
                                                        const report::Report& report);

/// Returns the exit status for an error of these functions: kUnknownName, kUsage, kNoInput or
/// kStoreUnusable.
int status_of_report_error(const Error& error);

inline constexpr int kSimilarityWallMs = 600'000;  // for all rows together

/// Sets ReportRow::similarity and ReportTotals::similarity. A row without a Python source, or with
/// a source that cannot be compared, gets no value. Error: unavailable, if the program fails.
Status add_similarity(report::Report& report, const std::map<std::string, std::string>& sources,
                      const operators::Catalog& catalog, const Paths& paths);

}  // namespace assay::server
