// The journal of a bench: the identity of the bench, its runs and its finished attempts, one JSON
// object per line. Each line is appended and synced when it happens, so that after kill -9 a
// resumed bench knows which attempts it need not repeat.
//
//   {"kind":"bench","format":1,"agent":"one_shot","model":"openai:gpt-5","suite":"all","samples":2,"device":"cuda:0","server":"","store":"..."}
//   {"kind":"run","sample":1,"run":"run_...","operators":["vector_add",...]}
//   {"kind":"finished","sample":1,"operator":"vector_add","outcome":"pass",...,"cost_usd":0.012,"charged_usd":0.012,"wall_ms":5210}
//
// `cost_usd` is null if the cost is not known: the model has no price, or a reply had no token
// counts. `charged_usd` is what --max-cost counts; it takes the worst case for such a reply.
//
// Only one process at a time can open a journal for writing. Thread-safe after open().
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

/// One attempt that is over, as the journal has it.
struct JournalledEnd {
  std::string outcome, error_kind, explanation;
  std::string replay;  // how a replayed attempt differs from the recorded one; empty: it does not
  std::optional<double> cost_usd = {};  // absent: not known
  double charged_usd = 0;
  double wall_ms = 0;  // 0: the attempt was not timed
};

/// What a journal holds.
struct JournalContent {
  BenchIdentity identity;
  std::map<std::int64_t, agents::RunHandle> runs;                          // by sample
  std::map<std::pair<std::int64_t, std::string>, JournalledEnd> finished;  // by sample and operator
};

/// Reads the journal in `directory` and changes nothing. not_found if there is none, corrupt if it
/// is broken. A torn last line is ignored.
Result<JournalContent> read_journal(const std::filesystem::path& directory);

/// True if `directory` holds a journal that is not empty.
bool has_journal(const std::filesystem::path& directory);

class BenchJournal {
 public:
  /// Creates `directory` if it is missing. With `resume`, the journal there must be of the same
  /// bench; without, it must not have opened a run (invalid_argument either way). unavailable while
  /// another bench has the journal open.
  static Result<std::unique_ptr<BenchJournal>> open(const std::filesystem::path& directory,
                                                    const BenchIdentity& identity, bool resume);

  /// The run of a sample (from 1); null if no part of the bench has opened it yet.
  const agents::RunHandle* run_of(std::int64_t sample) const;
  bool is_finished(std::int64_t sample, const std::string& operator_name) const;
  /// The attempts that earlier parts of the bench finished.
  const std::map<std::pair<std::int64_t, std::string>, JournalledEnd>& finished_before() const {
    return content_.finished;
  }
  /// The sum of what those attempts charged to the spending limit.
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
  Mutex mutex_;  // one line at a time
  /// Its runs include those of this part of the bench, its finished attempts do not.
  JournalContent content_;
};

}  // namespace assay::bench
