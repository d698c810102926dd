// Writes one attempt as the site's data: a short row for lists, and the details for the attempt's
// page, with every call of the attempt, its sources and its public verdicts. Pure functions.
//
//   rows.push_back(attempt_row(place, row, graded));
//   details.push_back(attempt_details(row, jobs, op));
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "base/json.h"
#include "operators/catalog.h"
#include "server/report/model/rows.h"
#include "server/store/store.h"

namespace assay::site {

/// Where an attempt belongs: the indexes of its group and its operator, and of the part and the
/// entry that have its details.
struct AttemptPlace {
  std::size_t group = 0, op = 0, details_part = 0, details_entry = 0;
};

/// Returns the names of the values in a row, in their order. All metrics of a report are among
/// them.
std::vector<std::string> attempt_columns();

/// Returns the values of attempt_columns(). `graded` is the job of the graded submission, or null.
nlohmann::ordered_json attempt_row(const AttemptPlace& place, const report::ReportRow& row,
                                   const server::StoredJob* graded);

/// Returns the attempt's calls in the order in which the server accepted them. Equal sources are
/// written once. A verdict is the public verdict without the raw samples of its times. `op` may be
/// null.
nlohmann::ordered_json attempt_details(const report::ReportRow& row,
                                       const std::vector<server::StoredJob>& jobs,
                                       const operators::Operator* op);

}  // namespace assay::site
