// Writes small pieces of a site's data: the list of metrics, and a document without the digests of
// suites. Pure functions.
//
//   index["metrics"] = metrics_json();
//   if (live) remove_suite_digests(index);
//   put("index", text_of_json(index));
#pragma once

#include <string>

#include "base/json.h"

namespace assay::site {

std::string text_of_json(const nlohmann::ordered_json& document);

/// Returns the metrics of an attempt, so that the pages need no list of their own.
nlohmann::ordered_json metrics_json();

/// Empties the digests of suites in a document. A digest covers the hidden cases, so a client could
/// check a guess of them with it (docs/explanation/hidden-cases.md).
void remove_suite_digests(nlohmann::ordered_json& document);

}  // namespace assay::site
