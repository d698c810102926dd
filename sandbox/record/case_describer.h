// CaseDescriber provides descriptions of cases before any input exists: shapes, strides, dtypes and
// scalars. With a description, a submission can be imported, recorded and compiled before a judge
// makes inputs. A bad submission is then rejected early.
//
//   CaseDescriber describer(judge);
//   const Result<std::optional<PreparedJob>> described =
//       describer.describe_without_inputs(job, deadline);
//   if (described && *described) record(**described);  // prepare() returns the same description
//
// The judge describes each case of an operator once, and CaseDescriber keeps the description. In
// most imported operators, a description depends on values of inputs, which a seed determines. For
// such an operator, describe() returns the same values for kJobsPerSeed jobs, and then values from
// a new seed. These values are valid inputs of the case, so a submission that cannot be compiled
// for them is wrong. But prepare() will choose other values. Thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
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
  using Keys = std::vector<std::string>;
  static constexpr std::size_t kMaxCases = 16'384;  // a description has about 2 KiB
  /// The number of jobs that get the same values of structural arguments.
  static constexpr int kJobsPerSeed = 64;
  /// The maximum number of bytes of all values that are kept.
  static constexpr std::size_t kMaxValueBytes = 64U << 20;

  /// The judge must outlive this object. Give it a judge that does no work on a GPU, because jobs
  /// wait for their descriptions.
  explicit CaseDescriber(Judge& judge) : judge_(judge) {}

  /// Returns a description of all cases of the job. The description has no device memory, and only
  /// structural arguments have bytes. The judge makes inputs if the description depends on values
  /// and no values are kept.
  Result<PreparedJob> describe(const Job& job, const Deadline& deadline);
  /// Returns a description that is the same for every seed. Returns nothing if the description
  /// depends on values of inputs.
  Result<std::optional<PreparedJob>> describe_without_inputs(const Job& job,
                                                             const Deadline& deadline);

  /// Returns a description of the cases with the input values of an earlier job, or nothing if no
  /// such values are kept. Asks no judge.
  std::optional<PreparedJob> values_of_earlier_job(const Job& job);
  /// Keeps the description that is part of prepared inputs, with the values of structural
  /// arguments. Leaves out hidden cases, and jobs whose inputs other jobs share (Job::input_seed),
  /// because a later verdict names the seeds of the values. The caller must compute `keys` before
  /// the inputs are made, because the operator's files may change in the meantime.
  void learn(const Keys& keys, const Job& job, const PreparedJob& prepared);
  /// Returns a key for each case. The key contains the operator's revision, so the judge describes
  /// an operator again after a change of its files. Returns no keys if the revision is unknown.
  static Keys keys_of(const Job& job);

 private:
  struct Known {
    PreparedCase description;
    // The bytes of each argument that has a file, by the argument's name. It is empty if the
    // description is fixed.
    std::map<std::string, std::string> values;
    int jobs_left = kJobsPerSeed;  // not used if the description is fixed
    std::size_t value_bytes() const;
  };

  enum class Kind { fixed, any };
  /// Returns the kept descriptions if there is a usable description for every key.
  std::optional<PreparedJob> find(const Keys& keys, Kind kind);
  void keep(const Keys& keys, const PreparedJob& described);
  void keep(const std::string& key, PreparedCase one, const std::vector<UniqueFd>& fds);
  void remove_oldest() ASSAY_REQUIRES(mutex_);

  Judge& judge_;
  Mutex mutex_;
  std::map<std::string, Known> known_ ASSAY_GUARDED_BY(mutex_);
  std::deque<std::string> order_ ASSAY_GUARDED_BY(mutex_);  // the keys of known_, the oldest first
  std::size_t value_bytes_ ASSAY_GUARDED_BY(mutex_) = 0;    // of all of known_
};

/// Returns true if the prepared case agrees with its description. Fields that depend on the inputs
/// are not compared: seed, bytes, and offsets in memory.
bool is_as_described(const PreparedCase& described, const PreparedCase& prepared);

}  // namespace assay::sandbox
