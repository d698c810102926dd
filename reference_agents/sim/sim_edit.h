// How the simulated model answers where edits are asked for (agent/edits.h). Pure function, safe
// from any thread.
#pragma once

#include <string>
#include <string_view>

namespace assay::agents {

inline constexpr std::string_view kEditMark = "<<<<<<< SEARCH";

/// One edit that turns `before` into `after`: what differs, with as much around it as makes it
/// unique.
std::string edit_text(const std::string& before, const std::string& after);

}  // namespace assay::agents
