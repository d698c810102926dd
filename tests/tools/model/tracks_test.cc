#include "tools/model/tracks.h"

#include "tests/catch.h"

using namespace assay::tools;

TEST_CASE("every track has one line in kTracks, and its name reads back") {
  for (int i = 0; i < static_cast<int>(kTracks.size()); ++i) {
    const auto track = static_cast<Track>(i);
    CHECK(rules_of(track).track == track);
    CHECK(track_from(to_string(track)) == track);
  }
  // Every track needs a line in kTracks.
  CHECK(static_cast<int>(Track::scaled) == static_cast<int>(kTracks.size()) - 1);
  CHECK_FALSE(track_from("weekend"));
  CHECK(track_names() == "practice, one_shot, iterative, scaled");
}

TEST_CASE("tracks_text() has the budgets of each track") {
  const std::string text = tracks_text();
  CHECK(text ==
        "practice (unlimited, 24 h), one_shot (1/1/1, 24 h), iterative (20/10/10, 24 h), scaled "
        "(100/100/100, 168 h)");
}
