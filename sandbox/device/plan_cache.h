// Launch plans of oracles, kept so that a baseline is recorded once per operator revision and case. Submissions are never cached.
// Thread-safe. Bounded: the oldest plan goes first.
#pragma once

#include <deque>
#include <map>
#include <mutex>
#include <optional>
#include <string>

#include "sandbox/job.h"
#include "sandbox/pool/messages.h"

namespace assay::sandbox {

class PlanCache {
 public:
  std::optional<std::string> find(const std::string& key) const;
  void put(const std::string& key, std::string plan);

  /// Identity of a plan: source, target and everything that the recording of a case depends on. Nothing for a case with structural inputs, whose values
  /// differ from job to job.
  static std::optional<std::string> key(const std::string& source, const std::string& target, const CaseRequest& request, const PreparedCase& prepared);

 private:
  mutable std::mutex mutex_;
  std::map<std::string, std::string> plans_;
  std::deque<std::string> order_;
};

}  // namespace assay::sandbox
