// Writes one attempt as the site's data: a short row for lists, and the details for the attempt's
// page, with every call of the attempt, its sources and its public verdicts.
//
//   rows.push_back(attempt_row(place, row, graded, check));
//   details.push_back(attempt_details(row, jobs, op, true, std::nullopt));
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "base/result.h"
#include "operators/catalog.h"
#include "server/report/model/rows.h"
#include "server/site/claims.h"
#include "server/store/store.h"
#include "server/transcripts/transcript.h"

namespace assay::site {

/// The submissions whose sources, and texts that can quote sources, are written.
enum class ShownSources {
  none,
  /// Those of runs in which a model answered. Simulated models submit changed oracles, and scripts
  /// may submit oracles, so a reader of these sources could hand in an oracle as his own work.
  models,
  all,
};
std::string_view to_string(ShownSources sources);
/// Error: invalid_argument; the message names the valid texts.
Result<ShownSources> shown_sources_from(const std::string& text);

/// Where an attempt belongs: the indexes of its group and its operator, and of the part and the
/// entry that have its details.
struct AttemptPlace {
  std::size_t group = 0, op = 0, details_part = 0, details_entry = 0;
};

/// Returns the names of the values in a row, in their order. All metrics of a report are among
/// them.
std::vector<std::string> attempt_columns();

/// Returns the values of attempt_columns(), without the last ones that are null. `graded` is the
/// job of the graded submission, or null.
nlohmann::ordered_json attempt_row(const AttemptPlace& place, const report::ReportRow& row,
                                   const server::StoredJob* graded, const Check& check);

/// Returns the attempt's calls in the order in which the server accepted them. Equal sources are
/// written once. A verdict is the public verdict without the raw samples of its times. `op` may be
/// null. Without `shows_sources`, a source is only its SHA-256, and the texts of a verdict that can
/// quote it are left out, as is the
/// transcript.
nlohmann::ordered_json attempt_details(const report::ReportRow& row,
                                       const std::vector<server::StoredJob>& jobs,
                                       const operators::Operator* op, bool shows_sources,
                                       const std::optional<transcripts::Transcript>& transcript);

/// Returns the stored transcript of an attempt, or nothing. A transcript with more than
/// `most_bytes` of texts is cut. A transcript that does not parse is missing, and the log says so.
/// Errors: those of the store.
Result<std::optional<transcripts::Transcript>> shown_transcript(
    server::Store& store, const std::string& run, const std::string& operator_name,
    std::optional<std::size_t> most_bytes);

}  // namespace assay::site
