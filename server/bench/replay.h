// Finds a recorded bench for `assay bench --replay`, and compares its attempts with those of the
// replay. Changes no file.
//
//   Result<std::vector<RecordedBench>> recorded = find_recorded("bench-out/leader_openai_gpt-5");
//   ReplayOutcome outcome =
//       compare_replay(recorded->front().journal, *read_journal(replay_folder));
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "base/result.h"
#include "server/bench/journal.h"

namespace assay::bench {

/// One agent with one model.
struct RecordedBench {
  std::filesystem::path directory;
  JournalContent journal;
};

/// The bench in `directory`, or the benches in its folders, sorted by name. not_found if there is
/// none; corrupt if a journal is broken; invalid_argument if they differ in operators or samples,
/// which the pairs of one bench never do.
Result<std::vector<RecordedBench>> find_recorded(const std::filesystem::path& directory);

/// The suite of the recorded bench as `start_run` takes it: its operators, even if the catalog has
/// changed since.
std::string recorded_suite(const JournalContent& journal);

struct ReplayOutcome {
  std::size_t same = 0;      // the same end after the same steps
  std::size_t other = 0;     // another end, or other steps
  std::size_t no_reply = 0;  // the transcript had no reply to continue with
  std::string text;          // a line for each attempt that is not the same, then the counts
};

/// Compares the attempts that the replay finished.
ReplayOutcome compare_replay(const JournalContent& recorded, const JournalContent& replayed);

}  // namespace assay::bench
