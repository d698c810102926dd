// RecordingCache keeps recordings: launch plans and the kernels' resources. The same source is
// compiled only once for the same shapes. So an oracle, or a source that was tested before, need
// not be compiled again.
//
//   RecordingCache cache(64 << 20);  // for oracles also: RecordingCache(64 << 20, &folder)
//   std::optional<CandidateResults> results =
//       cache.record(run, pool, {prepared, all_cases(prepared), target, source});
//
// Only the supervisor writes the cache, and it stores only complete answers of a candidate. No
// candidate can read or write the cache, and Triton's own cache is deleted with each candidate. The
// key contains everything that a recording depends on: source, language, entry, dialect, target,
// whether all autotuner configurations are wanted, the arguments without the contents of tensors,
// the axes, the outputs, and whether the case is hidden. It also contains the caller, unless the
// source is that of an oracle. The key says whether the case is hidden.
// So a recording that was made with knowledge of hidden cases is never used for a public case. A
// recording of a case with structural arguments is never kept, because host code may read the
// values of these arguments. A recording during which the submission printed something is never
// kept either, because the cache does not keep the printed text. Thread-safe. The size is bounded
// in bytes; the oldest entry is removed first. With a RecordingFolder, recordings are also kept in
// files, from which a server that starts again reads them. A recording that lacks configurations of
// an autotuner, which could be compiled at another time, is not kept in files.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>

#include "base/mutex.h"
#include "sandbox/record/record_cases.h"
#include "sandbox/record/recording_folder.h"

namespace assay::sandbox {

class RecordingCache {
 public:
  /// `folder` must outlive the cache. Without a folder, recordings are only kept in memory.
  explicit RecordingCache(std::int64_t max_bytes, RecordingFolder* folder = nullptr)
      : max_bytes_(max_bytes), folder_(folder) {}

  /// Returns the results for the request's cases, in the request's order. record_cases() records
  /// the cases that are not in the cache. If the request wants artifacts, all cases are recorded,
  /// because the cache keeps no artifacts.
  std::optional<CandidateResults> record(JobExecution& run, CandidatePool& pool,
                                         const RecordRequest& request);

  /// Everything that the recording of one case depends on. The caller owns the members.
  struct Inputs {
    const Job& job;  // provides the entry function, the adapter and the dialect
    const std::string& source;
    const std::string& target;
    const PreparedCase& prepared;
    bool alternatives = false;
    std::string_view language = kPython;
  };
  /// Returns the key of a case, or nothing if the case is never kept.
  static std::optional<std::string> key(const Inputs& inputs);

  std::optional<CaseDone> find(const std::string& key) const;
  void put(const std::string& key, CaseDone done);
  std::int64_t bytes() const;

 private:
  /// Looks in memory, then in the folder. `facts` is null before the first candidate has
  /// reported them; then the folder is not used.
  std::optional<CaseDone> find_kept(const std::string& key, const PoolFacts* facts);

  const std::int64_t max_bytes_;
  RecordingFolder* const folder_;
  mutable Mutex mutex_;
  std::map<std::string, CaseDone> known_ ASSAY_GUARDED_BY(mutex_);
  std::deque<std::string> order_ ASSAY_GUARDED_BY(mutex_);  // the keys, oldest first
  std::int64_t bytes_ ASSAY_GUARDED_BY(mutex_) = 0;
};

}  // namespace assay::sandbox
