// `assay bench --replay`: a recorded bench found on the disk, and what became of its attempts when
// they were graded anew. Reads only.
//
//   Result<std::vector<RecordedBench>> recorded = find_recorded("bench-out/leader_openai_gpt-5");
//   ReplayOutcome outcome = compare_replay(recorded->front().journal,
//   *read_journal(replay_folder));
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "base/result.h"
#include "server/bench/journal.h"

namespace assay::server {

/// One agent with one model.
struct RecordedBench {
  std::filesystem::path directory;
  JournalContent journal;
};

/// The bench in `directory`, or those in its folders, by name. not_found when there is none;
/// corrupt when a journal is broken; invalid_argument when they are not of the same operators and
/// samples, as the pairs of one bench are.
Result<std::vector<RecordedBench>> find_recorded(const std::filesystem::path& directory);

/// As `start_run` takes it: the operators that were asked then, whatever the catalog has now.
std::string recorded_suite(const JournalContent& journal);

struct ReplayOutcome {
  std::size_t same = 0;      // same end by the same steps
  std::size_t other = 0;     // another end, or other steps
  std::size_t no_reply = 0;  // the transcript had no reply for it
  std::string text;          // a line for each attempt that is not the same, then the counts
};

/// Of the attempts that the replay finished.
ReplayOutcome compare_replay(const JournalContent& recorded, const JournalContent& replayed);

}  // namespace assay::server
