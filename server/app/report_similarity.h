// CodeBLEU for a report: hands sources and oracles to metrics/codebleu.py, which parses them and
// never runs them. It is a process of its own with limits, since a submission may hold anything and
// Python's parser was not written for that.
//
//   auto sources = read_sources(store, catalog, report);
//   Status done = add_similarity(report, *sources, catalog, paths);       // fills
//   ReportRow::similarity and ReportTotals::similarity
#pragma once

#include <map>
#include <string>

#include "base/result.h"
#include "operators/catalog.h"
#include "server/app/paths.h"
#include "server/report/model/rows.h"

namespace assay::server {

inline constexpr int kSimilarityWallMs = 600'000;  // for all rows together

/// Rows without a source in Python, or whose source cannot be compared, get none. unavailable when
/// the program fails as a whole.
Status add_similarity(Report& report, const std::map<std::string, std::string>& sources,
                      const operators::Catalog& catalog, const Paths& paths);

}  // namespace assay::server
