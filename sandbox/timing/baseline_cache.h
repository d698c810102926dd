// What oracle and PyTorch took, for minutes: a profile, which is advice, need not wait until they
// were timed once more beside it. A grade times the oracle beside the submission, always: what
// drifts must hit both alike. (sandbox/timing/timing_session.h says who takes what over.)
//
//   BaselineMemo memo;
//   const std::string key = BaselineCache::key("softmax", revision, request);
//   memo.put(key, {.oracle = timing, .pytorch_ns = 52'000});
//   BaselineTimes known = memo.find(key);           // without what is older than kMostAge
//
// Thread-safe. A case of an operator has one entry, so there are as many as operators have cases.
#pragma once

#include <chrono>
#include <map>
#include <mutex>
#include <optional>
#include <string>

#include "sandbox/job/job.h"

namespace assay::sandbox {

struct BaselineTimes {
  std::optional<Timing> oracle;
  std::optional<double> pytorch_ns;  // between its marks: what they add is still in it
};

class BaselineCache {
 public:
  using Instant = std::chrono::steady_clock::time_point;
  static constexpr auto kMostAge = std::chrono::minutes(5);

  /// Everything that the times hang on but the values of inputs. `revision`: of the operator's
  /// files, the oracle among them.
  static std::string key(const std::string& operator_name, const std::string& revision,
                         const CaseRequest& request);

  /// What is not older than kMostAge, each by itself, the oracle's with its age. Nothing known:
  /// both empty.
  BaselineTimes find(const std::string& key, Instant now = std::chrono::steady_clock::now()) const;
  /// Replaces what `times` has; the rest stays.
  void put(const std::string& key, const BaselineTimes& times,
           Instant now = std::chrono::steady_clock::now());

 private:
  struct Entry {
    BaselineTimes times;
    Instant oracle_since, pytorch_since;
  };
  mutable std::mutex mutex_;
  std::map<std::string, Entry> entries_;
};

}  // namespace assay::sandbox
