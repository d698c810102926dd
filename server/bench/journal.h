// The journal of a bench: what it is and which attempts are over, one JSON object a line, appended
// and synced as they end. After kill -9 it is the truth about what need not be repeated.
//
//   {"kind":"bench","format":1,"agent":"one_shot","model":"openai:gpt-5","suite":"all","samples":2,"device":"cuda:0","server":"","store":"..."}
//   {"kind":"run","sample":1,"run":"run_...","operators":["vector_add",...]}
//   {"kind":"finished","sample":1,"operator":"vector_add","outcome":"pass",...,"cost_usd":0.012,"charged_usd":0.012,"wall_ms":5210}
//
// `cost_usd` is null where it is not known: the model has no price, or a reply no token counts.
// `charged_usd` is what --max-cost counts, in which such a reply has its worst case.
//
// One process at a time has a journal open for writing. Thread-safe after open.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "base/unique_fd.h"
#include "reference_agents/core/attempt.h"
#include "reference_agents/core/run.h"

namespace assay::server {

/// What must be the same when a bench is resumed.
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
  std::string
      replay;  // of a replayed attempt: how it differs from the recorded one; empty: not at all
  std::optional<double> cost_usd = {};  // absent: not known
  double charged_usd = 0;
  double wall_ms = 0;  // 0: an attempt of which only the end was journalled
};

/// What a journal holds.
struct JournalContent {
  BenchIdentity identity;
  std::map<std::int64_t, agents::RunHandle> runs;                          // by sample
  std::map<std::pair<std::int64_t, std::string>, JournalledEnd> finished;  // by sample and operator
};

/// Reads the journal in `directory` and changes nothing. not_found when there is none, corrupt when
/// it is broken; a torn last line is none.
Result<JournalContent> read_journal(const std::filesystem::path& directory);

/// Whether there is a journal with something in it.
bool has_journal(const std::filesystem::path& directory);

class BenchJournal {
 public:
  /// `directory` is made when it is missing. With `resume` an earlier journal there is read, and
  /// must be of the same bench; without, there must be none that ever opened a run
  /// (invalid_argument either way). unavailable while another bench has it open.
  static Result<std::unique_ptr<BenchJournal>> open(const std::filesystem::path& directory,
                                                    const BenchIdentity& identity, bool resume);

  /// The run of a sample (from 1), when an earlier part of the bench opened it.
  const agents::RunHandle* run_of(std::int64_t sample) const;
  bool is_finished(std::int64_t sample, const std::string& operator_name) const;
  /// What earlier parts of the bench finished.
  const std::map<std::pair<std::int64_t, std::string>, JournalledEnd>& finished_before() const {
    return content_.finished;
  }
  /// What those attempts took from the spending limit.
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
  std::mutex mutex_;
  JournalContent content_;  // runs: with those of this part; finished: without
};

}  // namespace assay::server
