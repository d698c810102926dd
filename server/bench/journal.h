// Keeps the journal of a bench: the identity of the bench, its runs and its finished attempts. Each
// line of the journal is one JSON object. It is written to the disk immediately. So if the bench is
// killed and resumed, it knows which attempts it need not repeat. `assay bench --replay` reads the
// journal of a recorded bench and compares the recorded attempts with the attempts of the replay.
//
//   const auto journal = BenchJournal::open(directory, identity, /*resume=*/true);
//   if (journal && !(*journal)->is_finished(1, "vector_add")) {
//     const Status written = (*journal)->add_finished(1, "vector_add", attempt, wall_ms);
//   }
//
// The lines of a journal:
//   {"kind":"bench","format":1,"agent":"one_shot","model":"openai:gpt-5","suite":"all",
//    "samples":2,"device":"cuda:0","server":"","store":"..."}
//   {"kind":"start","sample":1,"call_id":"start_..."}
//   {"kind":"run","sample":1,"run":"run_...","operators":["vector_add",...],
//    "suite_id":{"name":"assay","version":"1","digest":"..."}}
//   {"kind":"finished","sample":1,"operator":"vector_add","outcome":"pass",...,
//    "cost_usd":0.012,"charged_usd":0.012,"wall_ms":5210}
//
// In the example above, lines are broken in two; the journal does not break
// lines. `cost_usd` is null if the cost is unknown, because the model has no price or a reply had
// no token counts. `charged_usd` is the amount that counts against --max-cost. For a reply without
// token counts, it is the worst case.
//
// Only one process at a time can open a journal for writing. BenchJournal is thread-safe after
// open(). The functions are thread-safe.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/mutex.h"
#include "base/result.h"
#include "base/unique_fd.h"
#include "reference_agents/core/attempt.h"

namespace assay::bench {

/// The identity of a bench: what it runs and where. Only a bench with the same identity can be
/// resumed from a journal.
struct BenchIdentity {
  std::string agent, model, suite, device, server, store;
  std::int64_t samples = 1;
  std::string track = {};   // empty: the agent's default track
  std::string folder = {};  // the folder of operators; empty: Assay's own operators
  /// The place of the pair in the command, from 1; 0 in journals of older versions. It orders
  /// reports, and a resumed bench may have another.
  std::int64_t place = 0;
};

/// The outcome of a replayed attempt whose transcript contains no reply for the next step.
inline constexpr const char* kNoReply = "no_reply";

/// A finished attempt, as the journal records it.
struct JournalledEnd {
  std::string outcome, error_kind, explanation;
  /// A text that says how a replayed attempt differs from the recorded attempt. Empty if it does
  /// not differ.
  std::string replay;
  std::optional<double> cost_usd = {};  // absent: the cost is unknown
  double charged_usd = 0;
  double wall_ms = 0;  // 0: the attempt was not timed
};

/// The contents of a journal.
struct JournalContent {
  BenchIdentity identity;
  std::map<std::int64_t, agents::RunHandle> runs;  // runs by sample
  /// The ids of the calls that start the runs, by sample. A run may be missing, because the bench
  /// was interrupted before it had the answer.
  std::map<std::int64_t, std::string> starts;
  /// The finished attempts by sample and operator.
  std::map<std::pair<std::int64_t, std::string>, JournalledEnd> finished;
};

/// Reads the journal in `directory` without changing it. An incomplete last line is ignored.
/// Errors: not_found if there is no journal; corrupt if the journal is damaged.
Result<JournalContent> read_journal(const std::filesystem::path& directory);

/// Returns true if `directory` contains a journal that is not empty.
bool has_journal(const std::filesystem::path& directory);

class BenchJournal {
 public:
  /// Opens the journal in `directory`. Creates the journal and the directory if they are missing.
  /// If `resume` is true, the journal must contain a bench with the same identity. If `resume` is
  /// false, the journal must not contain a run, and its lines are removed. Errors: invalid_argument
  /// if one of these conditions is violated; unavailable if another bench has opened the journal;
  /// corrupt if the journal is damaged.
  static Result<std::unique_ptr<BenchJournal>> open(const std::filesystem::path& directory,
                                                    const BenchIdentity& identity, bool resume);

  /// Returns the run of a sample (counted from 1). Returns null if the bench has not started this
  /// run yet, neither in this process nor before it was resumed.
  const agents::RunHandle* run_of(std::int64_t sample) const;
  bool is_finished(std::int64_t sample, const std::string& operator_name) const;
  /// Returns the attempts that were finished before this process resumed the bench.
  const std::map<std::pair<std::int64_t, std::string>, JournalledEnd>& finished_before() const {
    return content_.finished;
  }
  /// Returns the amount in US dollars that the attempts in finished_before() charged to the
  /// spending limit (--max-cost).
  double spent_before_usd() const;

  /// Returns the id of the call that starts the run of a sample. The id is in the journal before
  /// this function returns, so a resumed bench repeats the call under the same id.
  Result<std::string> start_of(std::int64_t sample);
  /// Replaces this id by a new one.
  Result<std::string> new_start_of(std::int64_t sample);
  /// Returns true if an earlier part of the bench tried to start the run of a sample.
  bool has_start_of(std::int64_t sample) const { return content_.starts.count(sample) > 0; }
  Status add_run(std::int64_t sample, const agents::RunHandle& run);
  Status add_finished(std::int64_t sample, const std::string& operator_name,
                      const agents::Attempt& attempt, double wall_ms = 0,
                      const std::string& replay = "");

 private:
  explicit BenchJournal(std::string path) : path_(std::move(path)) {}
  Status load(const BenchIdentity& identity, bool resume);
  Status append(const std::string& line);

  const std::string path_;
  UniqueFd fd_;
  Mutex mutex_;  // locked while a line is written
  /// Contains all runs of the bench, including those that this process started. Contains only the
  /// finished attempts that the journal had when this process opened it.
  JournalContent content_;
};

/// The recorded bench of one agent with one model.
struct RecordedBench {
  std::filesystem::path directory;
  JournalContent journal;
};

/// Returns the bench in `directory`, or the benches in the folders of `directory`, in the order of
/// the command that recorded them, then by name. The benches can differ in everything. Errors:
/// not_found if there is no bench; corrupt if a journal is damaged.
Result<std::vector<RecordedBench>> find_benches(const std::filesystem::path& directory);

/// Returns the bench in `directory`, or the benches in the folders of `directory`, in the order of
/// the command that recorded them, then by name. Each bench has one agent and one model. Errors:
/// not_found if there is no bench; corrupt if a journal is damaged; invalid_argument if a bench has
/// no run, or if the benches differ in operators or samples. Benches that one command recorded
/// never differ in these.
Result<std::vector<RecordedBench>> find_recorded(const std::filesystem::path& directory);

/// Returns the suite of the recorded bench in the form that `start_run` accepts. The result is a
/// list of operators, so that the replay has the same operators even if the catalog has changed
/// since the recording.
std::string recorded_suite(const JournalContent& journal);

struct ReplayOutcome {
  std::size_t same = 0;      // attempts with the same end after the same steps
  std::size_t other = 0;     // attempts with a different end or different steps
  std::size_t no_reply = 0;  // attempts whose transcript contains no reply for the next step
  std::string text;          // one line for each attempt that differs, then the counts
};

/// Compares the attempts that the replay finished with the recorded attempts.
ReplayOutcome compare_replay(const JournalContent& recorded, const JournalContent& replayed);

}  // namespace assay::bench
