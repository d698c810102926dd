// CommitGroup combines the writes of several threads in one commit, because each commit waits for
// the disk. One wait then makes all these writes durable. If no commit is in progress, a thread
// commits its write at once, so a single writer does not wait longer than without a group. Writes
// that arrive during a commit are combined in the next commit.
//
//   CommitGroup group(
//       [&](const CommitGroup::Writes& writes) { commit_durably(db, path, writes); });
//   const Status stored =
//       group.commit([&](SQLite::Database& database) { return insert(database, job); });
//
// Thread-safe. One of the waiting threads commits the writes of all of them. Therefore `apply` may
// run on any thread that is inside commit().
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
  /// A function that writes to the database. It returns false if the database must not keep
  /// anything of this write.
  using Apply = std::function<bool(SQLite::Database&)>;
  struct Write {
    Apply apply;
    Status status = {};  // the error of the commit, or of an exception in `apply`
    bool done = false;
  };
  using Writes = std::vector<Write*>;

  /// `commit_all` must apply the writes in their order, commit them and set the status of each
  /// write. It is never called by two threads at the same time. It must not throw. After a rollback
  /// it may apply a write again.
  explicit CommitGroup(std::function<void(const Writes&)> commit_all)
      : commit_writes_(std::move(commit_all)) {}

  /// Commits the write, alone or together with others. A success means that the write is on the
  /// disk, or that `apply` returned false.
  Status commit(Apply apply);
  /// Commits several writes in one commit, and returns the status of each.
  std::vector<Status> commit_all(std::vector<Apply> applies);
  /// Waits until exactly `count` writes are waiting for the next commit. Tests use this function to
  /// choose which writes are committed together.
  void wait_for_waiting(std::size_t count) const;

 private:
  const std::function<void(const Writes&)> commit_writes_;
  mutable Mutex mutex_;
  Condition committed_;
  mutable Condition arrived_;  // only wait_for_waiting() waits for this
  bool committing_ ASSAY_GUARDED_BY(mutex_) = false;
  Writes waiting_ ASSAY_GUARDED_BY(mutex_);
};

}  // namespace assay::server
