// Evaluations accepts the evaluations of POST /v1/evaluate as jobs, and finds them again. The id of
// an evaluation is the handle of its job. An evaluation with a known idempotency key gets the job
// of the earlier one, unless that job ended without a statement about the submission.
//
// `services.jobs` must not be WatchedJobs, because this class also looks at jobs whose verdict no
// client reads.
//
//   Evaluations evaluations(services, groups);
//   const std::vector<Evaluations::Accepted> accepted = evaluations.accept(alice, members);
//   const auto result = evaluations.look(alice, accepted[0].id, 20'000, stop);
//
// A deadline ends only the wait for a device. A job that has begun is judged to its own limits:
// otherwise a slow kernel could make its own result masked.
//
// Thread-safe. Keys, groups and deadlines are kept in memory only: a server that starts again knows
// the jobs, but not their keys. The services and the groups must outlive the object.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <stop_token>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "base/json.h"
#include "base/mutex.h"
#include "server/evaluate/evaluation_request.h"
#include "server/evaluate/input_groups.h"
#include "tools/model/services.h"

namespace assay::server {

struct EvaluationLimits {
  std::size_t most_keys = 65'536;          // keys that are kept; the oldest is forgotten first
  std::int64_t keep_ms = 6LL * 3'600'000;  // the time for which a key is kept
};

class Evaluations {
 public:
  Evaluations(const tools::Services& services, InputGroups& groups,
              const EvaluationLimits& limits = {});
  ~Evaluations();
  Evaluations(const Evaluations&) = delete;
  Evaluations& operator=(const Evaluations&) = delete;

  struct Accepted {
    std::string id = {};  // empty: refused
    bool duplicate = false;
    std::optional<Problem> problem = {};
  };
  /// Accepts the members that have no problem. When this returns, each accepted job is stored.
  std::vector<Accepted> accept(const tools::Principal& principal,
                               const std::vector<Wanted>& members);

  /// Returns the state of an evaluation after at most `wait_ms`, or earlier if it ends.
  tl::expected<nlohmann::json, Problem> look(const tools::Principal& principal,
                                             const std::string& id, std::int64_t wait_ms,
                                             const std::stop_token& stop);
  tl::expected<void, Problem> cancel(const tools::Principal& principal, const std::string& id);
  /// Returns the number of deadlines that are kept. The deadline of an evaluation that no longer
  /// waits for a device is forgotten within a minute.
  std::size_t deadlines() const;

 private:
  using Key = std::pair<std::string, std::string>;  // principal and idempotency key
  struct Known {
    std::string id = {}, digest = {}, group = {}, inputs = {};
    std::int64_t since_ns = 0;
    bool accepted = false;  // false: the job is being stored
  };
  struct Deadline {
    std::int64_t unix_ms = 0;
    tools::Principal principal = {};
  };
  struct Place {
    std::optional<Accepted> answer = {};  // of a known key
    Key key = {};
    std::string id = {};
  };

  Place reserve(const tools::Principal& principal, const Wanted& wanted);
  bool says_nothing(const tools::Principal& principal, const std::string& id);
  /// Waits until the other request with this key has stored its evaluation, and returns its id.
  /// Returns nothing if it was refused, or if the key has another evaluation by now.
  std::optional<std::string> settled_id(const Key& key, const std::string& digest);
  /// Replaces the id of a new evaluation by that of the job that an earlier request had for it.
  void rename(const Place& place, const std::string& id);
  void settle(const Key& key, bool accepted);
  void forget(const Key& key) ASSAY_REQUIRES(mutex_);
  void forget_old() ASSAY_REQUIRES(mutex_);
  void set_deadline(const tools::Principal& principal, const std::string& id,
                    const std::optional<std::int64_t>& deadline, bool duplicate);
  void watch_deadlines(const std::stop_token& stop);
  /// Waits until a deadline is due, and returns the evaluations to look at.
  std::vector<std::pair<std::string, tools::Principal>> wait_for_deadlines(
      const std::stop_token& stop);
  void look_at_deadline(const std::string& id, const tools::Principal& principal);

  const tools::Services& services_;
  InputGroups& groups_;
  const EvaluationLimits limits_;
  mutable Mutex mutex_;
  Condition settled_;  // a job was stored or refused
  std::map<Key, Known> known_ ASSAY_GUARDED_BY(mutex_);
  std::multimap<std::int64_t, Key> by_age_ ASSAY_GUARDED_BY(mutex_);
  std::map<std::string, Key> keys_ ASSAY_GUARDED_BY(mutex_);            // by id
  std::map<std::string, Deadline> deadlines_ ASSAY_GUARDED_BY(mutex_);  // by id
  std::int64_t deadline_changes_ ASSAY_GUARDED_BY(mutex_) = 0;
  std::int64_t next_sweep_ns_ ASSAY_GUARDED_BY(mutex_) = 0;  // then all deadlines are looked at
  std::set<std::string> overdue_ ASSAY_GUARDED_BY(mutex_);   // ids that a deadline cancelled
  Condition deadline_added_;
  std::jthread canceller_;  // the last member: it uses all others
};

}  // namespace assay::server
