// Snapshots keeps the data of the live pages in memory, for each principal. A snapshot is the data
// of one moment: all its parts belong together. So a page that has loaded the index of a snapshot
// also gets the other parts of this snapshot, although the store has changed since then.
//
//   Snapshots snapshots(make, {});
//   const auto newest = snapshots.newest("alice", store.revision_of("alice").value_or(""));
//   if (newest) show((*newest)->parts.at("index"));
//   const std::shared_ptr<const Snapshot> same = snapshots.find("alice", (*newest)->number);
//
// Thread-safe. Only one thread at a time makes a snapshot; the others wait for it. The clock must
// outlive the object.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "base/clock.h"
#include "base/mutex.h"
#include "base/result.h"

namespace assay::site {

struct Snapshot {
  std::int64_t number = 0;                   // counted from 1, over all principals
  std::string revision;                      // of the store, when the snapshot was begun
  std::map<std::string, std::string> parts;  // the JSON of each part, by its name
};

struct SnapshotLimits {
  std::size_t kept = 3;         // snapshots of a principal that are kept
  std::size_t principals = 16;  // principals whose snapshots are kept
  /// A snapshot younger than this is not replaced, nor one younger than `rest` times the time that
  /// it took to make it. So a client cannot make the server write data all the time.
  std::int64_t min_age_ms = 2'000;
  std::int64_t failed_pause_ms = 5'000;  // after a failure, before the next attempt
  std::int64_t rest = 5;
};

class Snapshots {
 public:
  using Parts = std::map<std::string, std::string>;
  /// Makes the parts of the data of `principal`. The number and the revision are those of the
  /// snapshot.
  using Make = std::function<Result<Parts>(const std::string& principal, std::int64_t number,
                                           const std::string& revision)>;

  Snapshots(Make make, const SnapshotLimits& limits, const Clock& clock = system_clock())
      : make_(std::move(make)), limits_(limits), clock_(clock) {}

  /// Returns the newest snapshot of the principal. Makes one if there is none, or if the newest is
  /// of another revision and is old enough. Errors: those of the function that makes parts, also
  /// for some time after it has failed (failed_pause_ms).
  Result<std::shared_ptr<const Snapshot>> newest(const std::string& principal,
                                                 const std::string& revision);
  /// Returns the snapshot of the principal with this number, or null if it is not kept.
  std::shared_ptr<const Snapshot> find(const std::string& principal, std::int64_t number) const;

 private:
  struct Kept {
    std::deque<std::shared_ptr<const Snapshot>> snapshots;  // newest first
    std::int64_t next_ns = 0;                               // the earliest time of the next one
    std::int64_t used_ns = 0;
    std::optional<Error> failure = {};  // of the newest attempt, until next_ns
  };
  using Newest = Result<std::shared_ptr<const Snapshot>>;
  /// Returns the newest snapshot if it is good enough, or null. Error: that of the newest attempt,
  /// if it failed a short time ago.
  Newest usable(const std::string& principal, const std::string& revision);
  /// Returns what is kept of the principal. Forgets the principal that was unused for the longest
  /// time, if there are too many.
  Kept& kept_of(const std::string& principal) ASSAY_REQUIRES(mutex_);
  void keep_failure(const std::string& principal, const Error& error);
  void keep(const std::string& principal, std::shared_ptr<const Snapshot> snapshot,
            std::int64_t took_ns);

  const Make make_;
  const SnapshotLimits limits_;
  const Clock& clock_;
  Mutex making_;  // is locked before mutex_
  std::int64_t last_number_ ASSAY_GUARDED_BY(making_) = 0;
  mutable Mutex mutex_;
  std::map<std::string, Kept> kept_ ASSAY_GUARDED_BY(mutex_);
};

}  // namespace assay::site
