#include "tools/model/tracks.h"

#include <algorithm>

#include "base/text.h"

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

std::string_view to_string(Track track) { return rules_of(track).name; }

std::optional<Track> track_from(std::string_view text) {
  const auto found = std::find_if(kTracks.begin(), kTracks.end(),
                                  [text](const TrackRules& rules) { return rules.name == text; });
  return found == kTracks.end() ? std::nullopt : std::optional(found->track);
}

const TrackRules& rules_of(Track track) {
  const auto found = std::find_if(kTracks.begin(), kTracks.end(), [track](const TrackRules& rules) {
    return rules.track == track;
  });
  // Every track has a line in kTracks; tracks_test.cc checks that.
  return found == kTracks.end() ? kTracks.front() : *found;
}

std::string track_names() { return join(kTracks, ", ", &TrackRules::name); }

std::string tracks_text() {
  return join(kTracks, ", ", [](const TrackRules& rules) {
    return std::string(rules.name) + " (" + budgets_text(rules.budgets) + ")";
  });
}

}  // namespace assay::tools
