// BaselineCache keeps the times of an operator's baseline (base/baseline.h) and of PyTorch for some
// minutes, so that a profile need not measure them again. This is acceptable because a profile is
// only advice. A grade times the baseline together with the submission, because a drift of the
// clocks must affect both equally, and uses a kept time only if a new block shows that it still
// holds (sandbox/timing/timing_session.h).
//
//   BaselineCache cache;
//   const std::string key = BaselineCache::key("softmax", revision, request);
//   cache.put(key, {.baseline = timing, .pytorch_ns = 52'000});
//   BaselineTimes known = cache.find(key);  // has no times older than kMostAge
//
// Thread-safe. There is one entry for each case of an operator, which bounds the size.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "base/clock.h"
#include "base/mutex.h"
#include "sandbox/job/job.h"

namespace assay::sandbox {

struct BaselineTimes {
  // The oracle's time. If the operator has no oracle, PyTorch's time, which then includes the
  // overhead of the timer's marks.
  std::optional<Timing> baseline;
  std::optional<double> pytorch_ns;  // time between the timer's marks, including their overhead
};

class BaselineCache {
 public:
  static constexpr std::chrono::minutes kMostAge{5};

  /// The clock must outlive the object.
  explicit BaselineCache(const Clock& clock = system_clock()) : clock_(clock) {}

  /// Returns a key that contains everything on which the times depend, except the values of inputs.
  /// `revision` covers the operator's files, including the oracle, and says which baseline
  /// the operator has.
  static std::string key(const std::string& operator_name, const std::string& revision,
                         const CaseRequest& request);

  /// Returns the times that are at most kMostAge old. Unknown and older times are not set. The
  /// baseline's timing includes its age.
  BaselineTimes find(const std::string& key) const;
  /// Stores the times that are set in `times`. The cached values of the other times stay unchanged.
  /// `at_ns` is when they were measured, by the clock.
  void put(const std::string& key, const BaselineTimes& times, std::int64_t at_ns);
  void put(const std::string& key, const BaselineTimes& times) {
    put(key, times, clock_.monotonic_ns());
  }

 private:
  struct Entry {
    BaselineTimes times;
    std::int64_t baseline_since_ns = 0, pytorch_since_ns = 0;
  };
  const Clock& clock_;
  mutable Mutex mutex_;
  std::map<std::string, Entry> entries_ ASSAY_GUARDED_BY(mutex_);
};

}  // namespace assay::sandbox
