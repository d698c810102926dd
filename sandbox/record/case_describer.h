// CaseDescriber: tells what a submission may know of its cases before any input exists: shapes,
// strides, dtypes and scalars. So a submission can be imported, recorded and compiled, and a bad
// one refused, before a judge makes inputs.
//
//   CaseDescriber describer(judge);
//   Result<std::optional<PreparedJob>> described = describer.describe_without_inputs(job,
//   deadline); if (described && *described) record(**described);  // prepare() will say the same
//
// A judge is asked once for each case of an operator. If a description depends on values that a
// seed decides, the judge is asked each time, and its answer holds for this job only. Thread-safe.
#pragma once

#include <cstddef>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/mutex.h"
#include "base/result.h"
#include "sandbox/job/job.h"
#include "sandbox/pool/judge.h"

namespace assay::sandbox {

class CaseDescriber {
 public:
  static constexpr std::size_t kMaxCases = 16'384;  // a description has about 2 KiB

  /// The judge must outlive this object. It should do no work on a GPU, because jobs wait for it.
  explicit CaseDescriber(Judge& judge) : judge_(judge) {}

  /// Returns a description of all cases of the job. It has no device memory. Only structural
  /// arguments have bytes. The judge makes inputs if the description depends on values.
  Result<PreparedJob> describe(const Job& job, const Deadline& deadline);
  /// Returns a description that is the same for every seed, or nothing if there is none.
  Result<std::optional<PreparedJob>> describe_without_inputs(const Job& job,
                                                             const Deadline& deadline);

 private:
  /// Returns the kept descriptions if there is one for every key.
  std::optional<PreparedJob> find(const std::vector<std::string>& keys);
  void keep(const std::vector<std::string>& keys, const PreparedJob& described);

  Judge& judge_;
  Mutex mutex_;
  std::map<std::string, PreparedCase> known_ ASSAY_GUARDED_BY(mutex_);
  std::deque<std::string> order_ ASSAY_GUARDED_BY(mutex_);  // the keys of known_, the oldest first
};

/// Returns true if the judge prepared the case as it was described, except for what depends on the
/// inputs: seed, bytes, and places in memory.
bool is_as_described(const PreparedCase& described, const PreparedCase& prepared);

}  // namespace assay::sandbox
