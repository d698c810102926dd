// Adds CodeBLEU to a report. metrics/codebleu.py parses sources and oracles and never runs them. It
// is a process of its own with limits, because a submission can contain anything and Python's
// parser is not made for hostile input.
//
//   auto sources = read_sources(store, catalog, report);
//   Status done = add_similarity(report, *sources, catalog, paths);
//   // sets ReportRow::similarity and ReportTotals::similarity
#pragma once

#include <map>
#include <string>

#include "base/result.h"
#include "operators/catalog.h"
#include "server/app/workspace.h"
#include "server/report/model/rows.h"

namespace assay::server {

inline constexpr int kSimilarityWallMs = 600'000;  // for all rows together

/// A row without a Python source, or with a source that cannot be compared, gets no value. Error:
/// unavailable, if the whole program fails.
Status add_similarity(report::Report& report, const std::map<std::string, std::string>& sources,
                      const operators::Catalog& catalog, const Paths& paths);

}  // namespace assay::server
