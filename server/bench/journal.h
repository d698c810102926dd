// The journal of a bench: the identity of the bench, its runs and its finished attempts, one JSON
// object per line. Each line is appended and synced when it happens, so that after kill -9 a
// resumed bench knows which attempts it need not repeat. `assay bench --replay` reads the journal
// of a recorded bench and compares its attempts with those of the replay.
//
//   const auto journal = BenchJournal::open(directory, identity, /*resume=*/true);
//   if (journal && !(*journal)->is_finished(1, "vector_add")) {
//     const Status written = (*journal)->add_finished(1, "vector_add", attempt, wall_ms);
//   }
//
// The lines of a journal:
//   {"kind":"bench","format":1,"agent":"one_shot","model":"openai:gpt-5","suite":"all",
//    "samples":2,"device":"cuda:0","server":"","store":"..."}
//   {"kind":"run","sample":1,"run":"run_...","operators":["vector_add",...]}
//   {"kind":"finished","sample":1,"operator":"vector_add","outcome":"pass",...,
//    "cost_usd":0.012,"charged_usd":0.012,"wall_ms":5210}
//
// Two of these lines are wrapped here. `cost_usd` is null if the cost is not known: the model has
// no price, or a reply had no token counts. `charged_usd` is what --max-cost counts; for a reply
// without token counts it is the worst case.
//
// Only one process at a time can open a journal for writing. BenchJournal is thread-safe after
// open(); the functions are thread-safe.
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

/// A bench can be resumed only with the same identity.
struct BenchIdentity {
  std::string agent, model, suite, device, server, store;
  std::int64_t samples = 1;
  std::string track = {};  // empty: the agent's own
};

/// The outcome of a replayed attempt whose transcript had no reply for it.
inline constexpr const char* kNoReply = "no_reply";

/// A finished attempt, as the journal has it.
struct JournalledEnd {
  std::string outcome, error_kind, explanation;
  std::string replay;  // how a replayed attempt differs from the recorded one; empty: not at all
  std::optional<double> cost_usd = {};  // absent: not known
  double charged_usd = 0;
  double wall_ms = 0;  // 0: the attempt was not timed
};

/// The content of a journal.
struct JournalContent {
  BenchIdentity identity;
  std::map<std::int64_t, agents::RunHandle> runs;                          // by sample
  std::map<std::pair<std::int64_t, std::string>, JournalledEnd> finished;  // by sample and operator
};

/// Reads the journal in `directory` and does not change it. A torn last line is ignored. Errors:
/// not_found, there is none; corrupt, it is broken.
Result<JournalContent> read_journal(const std::filesystem::path& directory);

/// Returns whether `directory` contains a journal that is not empty.
bool has_journal(const std::filesystem::path& directory);

class BenchJournal {
 public:
  /// Opens the journal in `directory`, and creates both if they are missing. With `resume` the
  /// journal must have the same identity. Without `resume` it must not contain a run. Errors:
  /// invalid_argument, if one of these does not hold; unavailable, while another bench has the
  /// journal open.
  static Result<std::unique_ptr<BenchJournal>> open(const std::filesystem::path& directory,
                                                    const BenchIdentity& identity, bool resume);

  /// Returns the run of a sample (from 1), or null if no part of the bench has opened it yet.
  const agents::RunHandle* run_of(std::int64_t sample) const;
  bool is_finished(std::int64_t sample, const std::string& operator_name) const;
  /// Returns the attempts that earlier parts of the bench finished.
  const std::map<std::pair<std::int64_t, std::string>, JournalledEnd>& finished_before() const {
    return content_.finished;
  }
  /// Returns the sum that these attempts charged to the spending limit, in US dollars.
  double spent_before_usd() const;

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
  Mutex mutex_;  // held while a line is written
  /// The runs include those of this part of the bench. The finished attempts do not.
  JournalContent content_;
};

/// The recorded bench of one agent with one model.
struct RecordedBench {
  std::filesystem::path directory;
  JournalContent journal;
};

/// Returns the bench in `directory`, or the benches in its folders, sorted by name. Errors:
/// not_found, there is none; corrupt, a journal is broken; invalid_argument, they differ in
/// operators or samples, which the pairs of one bench never do.
Result<std::vector<RecordedBench>> find_recorded(const std::filesystem::path& directory);

/// Returns the suite of the recorded bench as `start_run` takes it: a list of its operators, even
/// if the catalog has changed since.
std::string recorded_suite(const JournalContent& journal);

struct ReplayOutcome {
  std::size_t same = 0;      // attempts with the same end after the same steps
  std::size_t other = 0;     // attempts with another end, or other steps
  std::size_t no_reply = 0;  // attempts whose transcript had no reply to continue with
  std::string text;          // a line for each attempt that is not the same, then the counts
};

/// Compares the attempts that the replay finished.
ReplayOutcome compare_replay(const JournalContent& recorded, const JournalContent& replayed);

}  // namespace assay::bench
