#include "tools/model/tracks.h"

#include <algorithm>

namespace assay::tools {
namespace {

std::string budgets_text(const Budgets& budgets) {
  constexpr std::int64_t kHourS = 3'600;
  const std::string calls = budgets.tests < 0 ? "unlimited"
                                              : std::to_string(budgets.compiles) + "/" +
                                                    std::to_string(budgets.tests) + "/" +
                                                    std::to_string(budgets.profiles);
  return calls + ", " + std::to_string(budgets.run_wall_s / kHourS) + " h";
}

}  // namespace

const TrackRules& rules_of(Track track) {
  const auto found = std::find_if(kTracks.begin(), kTracks.end(), [track](const TrackRules& rules) {
    return rules.track == track;
  });
  return found == kTracks.end() ? kTracks.front()
                                : *found;  // tracks_test.cc: every track has a line
}

std::string track_names() {
  std::string names;
  for (const TrackRules& rules : kTracks)
    names += (names.empty() ? "" : ", ") + std::string(rules.name);
  return names;
}

std::string tracks_text() {
  std::string text;
  for (const TrackRules& rules : kTracks)
    text += (text.empty() ? "" : ", ") + std::string(rules.name) + " (" +
            budgets_text(rules.budgets) + ")";
  return text;
}

}  // namespace assay::tools
