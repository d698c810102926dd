// Plots and key figures that the page of one report and the page that compares several have in
// common. Markup; pure functions.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "server/report/html/plots.h"
#include "server/report/model/rows.h"

namespace assay::server {

/// "agent, model", each of them cut after so many characters.
std::string configuration_of(const Report& report, std::size_t characters = 60);

Bar share_bar(const std::string& label, const metrics::Estimate& estimate);
Bar ratio_bar(const std::string& label, const metrics::Estimate& estimate);

/// Perf@1 as bars, with a line where a submission is as fast as the oracle. At least one bar.
std::string perf_plot(const std::string& heading, const std::vector<Bar>& bars);

Line fast_line(const std::string& name, const std::vector<metrics::FastPoint>& curve);

/// "95 %: 28 to 72 %", or "".
std::string interval_in_words(const std::optional<metrics::Estimate>& estimate, double scale,
                              const char* format, const char* unit);

/// "unknown" for what has no name.
std::string group_name(const std::string& group);

inline constexpr const char* kPerfHeading =
    "Perf@1: oracle latency / submission latency (dashed: as fast as the oracle)";
inline constexpr const char* kFastHeading = "fast_p: right, and more than p times as fast";

inline constexpr const char* kStageRemark =
    "The first tool that no version of an attempt got past, by TritonBench's groups of the error "
    "that it ended with. No error: right in the tests, and never "
    "submitted.";

}  // namespace assay::server
