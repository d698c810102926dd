// What was recorded before: plans and kernel figures by content, so that the same source is
// compiled once for the same shapes. An agent that submits what it has tested, and every oracle, is
// launched at once.
//
//   RecordMemo memo(64 << 20);
//   std::optional<CandidateResults> results = memo.record(run, pool, prepared, target, source,
//   {.candidates = 2});
//
// Written here alone, by the supervisor, from what a candidate sent complete; no candidate reads or
// writes it, and Triton's own cache dies with each candidate. The key is everything that a
// recording depends on: source, language, entry, dialect, target, whether alternatives are wanted,
// and the arguments without their values. So a case with structural arguments, whose values host
// code may read, is never kept, nor is what was recorded by a submission that printed something.
// Thread-safe. Bounded in bytes: the oldest goes first.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <mutex>
#include <optional>
#include <string>

#include "sandbox/record/record_cases.h"

namespace assay::sandbox {

class RecordingCache {
 public:
  explicit RecordingCache(std::int64_t max_bytes) : max_bytes_(max_bytes) {}

  /// As record_cases() of all cases, those that are known excepted. With `artifacts` everything is
  /// recorded anew.
  std::optional<CandidateResults> record(JobExecution& run, CandidatePool& pool,
                                         const PreparedJob& prepared, const std::string& target,
                                         const std::string& source, const RecordOptions& options);

  /// Nothing for a case that is never kept.
  static std::optional<std::string> key(const Job& job, const std::string& source,
                                        const std::string& target, const PreparedCase& prepared,
                                        bool alternatives = false,
                                        std::string_view language = kPython);

  std::optional<CaseDone> find(const std::string& key) const;
  void put(const std::string& key, CaseDone done);
  std::int64_t bytes() const;

 private:
  const std::int64_t max_bytes_;
  mutable std::mutex mutex_;
  std::map<std::string, CaseDone> known_;
  std::deque<std::string> order_;
  std::int64_t bytes_ = 0;
};

}  // namespace assay::sandbox
