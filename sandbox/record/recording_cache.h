// A cache of recordings (launch plans and kernel figures) by content, so that the same source is
// compiled once for the same shapes. A source that was tested before is launched without another
// compilation, and so is every oracle.
//
//   RecordingCache cache(64 << 20);
//   std::optional<CandidateResults> results =
//       cache.record(run, pool, {prepared, all_cases(prepared), target, source});
//
// Only the supervisor writes the cache, and only from a complete candidate answer. No candidate can
// read or write it, and Triton's own cache ends with each candidate. The key is everything that a
// recording depends on: source, language, entry, dialect, target, whether alternatives are wanted,
// the arguments without their values, and whether the case is hidden: what a candidate recorded
// while it had hidden cases must not become the recording of a public one. The cache never keeps a
// case with structural arguments, because host code may read their values, or a recording during
// which the submission printed. Thread-safe. Bounded in bytes: the oldest entry goes first.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>

#include "base/mutex.h"
#include "sandbox/record/record_cases.h"

namespace assay::sandbox {

class RecordingCache {
 public:
  explicit RecordingCache(std::int64_t max_bytes) : max_bytes_(max_bytes) {}

  /// Returns the cases of the request, in their order, and records those that are not in the cache
  /// as record_cases() does. With `artifacts` it records all of them.
  std::optional<CandidateResults> record(JobExecution& run, CandidatePool& pool,
                                         const RecordRequest& request);

  /// Everything that the recording of one case depends on. Borrows it.
  struct Inputs {
    const Job& job;  // for the names of the entry and of the dialect
    const std::string& source;
    const std::string& target;
    const PreparedCase& prepared;
    bool alternatives = false;
    std::string_view language = kPython;
  };
  /// Returns the key of a case; nothing for a case that is never kept.
  static std::optional<std::string> key(const Inputs& inputs);

  std::optional<CaseDone> find(const std::string& key) const;
  void put(const std::string& key, CaseDone done);
  std::int64_t bytes() const;

 private:
  const std::int64_t max_bytes_;
  mutable Mutex mutex_;
  std::map<std::string, CaseDone> known_ ASSAY_GUARDED_BY(mutex_);
  std::deque<std::string> order_ ASSAY_GUARDED_BY(mutex_);  // of keys, oldest first
  std::int64_t bytes_ ASSAY_GUARDED_BY(mutex_) = 0;
};

}  // namespace assay::sandbox
