// Keeps the times of oracle and PyTorch for some minutes, so that a profile need not wait until
// they are timed again. A profile is advice. A grade always times the oracle beside the submission,
// because a drift of the clocks must affect both alike (sandbox/timing/timing_session.h).
//
//   BaselineCache cache;
//   const std::string key = BaselineCache::key("softmax", revision, request);
//   cache.put(key, {.oracle = timing, .pytorch_ns = 52'000});
//   BaselineTimes known = cache.find(key);  // without times older than kMostAge
//
// Thread-safe. Each case of an operator has one entry, which bounds the size.
#pragma once

#include <chrono>
#include <map>
#include <optional>
#include <string>

#include "base/clock.h"
#include "base/mutex.h"
#include "sandbox/job/job.h"

namespace assay::sandbox {

struct BaselineTimes {
  std::optional<Timing> oracle;
  std::optional<double> pytorch_ns;  // between the timer's marks, whose own time is included
};

class BaselineCache {
 public:
  static constexpr std::chrono::minutes kMostAge{5};

  /// The clock must outlive the object.
  explicit BaselineCache(const Clock& clock = system_clock()) : clock_(clock) {}

  /// Returns everything that the times depend on, except the values of inputs. `revision` covers
  /// the operator's files, so the oracle too.
  static std::string key(const std::string& operator_name, const std::string& revision,
                         const CaseRequest& request);

  /// Returns the times that are not older than kMostAge, the oracle's with its age. A time that is
  /// unknown or older is absent.
  BaselineTimes find(const std::string& key) const;
  /// Replaces the times that `times` has. A time that it lacks stays as it is.
  void put(const std::string& key, const BaselineTimes& times);

 private:
  struct Entry {
    BaselineTimes times;
    std::int64_t oracle_since_ns = 0, pytorch_since_ns = 0;
  };
  const Clock& clock_;
  mutable Mutex mutex_;
  std::map<std::string, Entry> entries_ ASSAY_GUARDED_BY(mutex_);
};

}  // namespace assay::sandbox
