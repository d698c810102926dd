#include "tools/services.h"

namespace assay::tools {

std::string_view to_string(Track track) {
  switch (track) {
    case Track::practice: return "practice";
    case Track::one_shot: return "one_shot";
    case Track::iterative: return "iterative";
  }
  return "?";
}

std::optional<Track> track_from(std::string_view text) {
  for (const Track track : {Track::practice, Track::one_shot, Track::iterative}) {
    if (to_string(track) == text) return track;
  }
  return std::nullopt;
}

std::string_view to_string(JobState state) {
  switch (state) {
    case JobState::queued: return "queued";
    case JobState::running: return "running";
    case JobState::finished: return "finished";
    case JobState::cancelled: return "cancelled";
    case JobState::aborted: return "aborted";
  }
  return "?";
}

}  // namespace assay::tools
