// CommitGroup lets threads that write at the same time share one commit, so that one wait for the
// disk makes the writes of all of them durable. A thread that finds no commit in progress commits
// at once, so a single writer waits no longer than without a group. Writes that arrive during a
// commit become the next commit.
//
//   CommitGroup group(
//       [&](const CommitGroup::Writes& writes) { commit_durably(db, path, writes); });
//   const Status stored =
//       group.commit([&](SQLite::Database& database) { return insert(database, job); });
//
// Thread-safe. The thread of one write commits for the others, so `apply` may run on any of the
// threads that are inside commit().
#pragma once

#include <SQLiteCpp/Database.h>

#include <cstddef>
#include <functional>
#include <utility>
#include <vector>

#include "base/mutex.h"
#include "base/result.h"

namespace assay::server {

class CommitGroup {
 public:
  /// Writes to the database. Returns false if nothing of this write must be kept.
  using Apply = std::function<bool(SQLite::Database&)>;
  struct Write {
    Apply apply;
    Status status = {};  // the error of the commit, or of an exception in `apply`
    bool done = false;
  };
  using Writes = std::vector<Write*>;

  /// `commit_all` applies the writes in their order, commits them and sets each status. Only one
  /// thread at a time calls it. It must not throw, and may apply a write again after a rollback.
  explicit CommitGroup(std::function<void(const Writes&)> commit_all)
      : commit_all_(std::move(commit_all)) {}

  /// Commits the write, alone or together with others. Success means that it is on the disk, or
  /// that `apply` returned false.
  Status commit(Apply apply);
  /// Waits until exactly `count` writes wait for the commit that is in progress. Tests use this
  /// function to choose which writes are committed together.
  void wait_for_waiting(std::size_t count) const;

 private:
  const std::function<void(const Writes&)> commit_all_;
  mutable Mutex mutex_;
  Condition committed_;
  mutable Condition arrived_;  // only wait_for_waiting() waits for this
  bool committing_ ASSAY_GUARDED_BY(mutex_) = false;
  Writes waiting_ ASSAY_GUARDED_BY(mutex_);
};

}  // namespace assay::server
