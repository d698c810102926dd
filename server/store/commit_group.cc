#include "server/store/commit_group.h"

namespace assay::server {

Status CommitGroup::commit(Apply apply) {
  std::vector<Apply> one;
  one.push_back(std::move(apply));
  return std::move(commit_all(std::move(one)).front());
}

std::vector<Status> CommitGroup::commit_all(std::vector<Apply> applies) {
  std::vector<Write> mine;
  for (Apply& apply : applies) mine.push_back({.apply = std::move(apply)});
  if (mine.empty()) return {};
  MutexLock lock(mutex_);
  for (Write& write : mine) waiting_.push_back(&write);
  arrived_.notify_all();
  // The writes are committed together, so one of them stands for all.
  const Write& first = mine.front();
  committed_.wait(lock, [&]() ASSAY_REQUIRES(mutex_) { return first.done || !committing_; });
  if (!first.done) {
    committing_ = true;
    const Writes together = std::exchange(waiting_, {});  // `mine` are among them
    lock.unlock();
    commit_writes_(together);
    lock.lock();
    for (Write* write : together) write->done = true;
    committing_ = false;
    committed_.notify_all();
  }
  std::vector<Status> statuses;
  for (Write& write : mine) statuses.push_back(std::move(write.status));
  return statuses;
}

void CommitGroup::wait_for_waiting(std::size_t count) const {
  MutexLock lock(mutex_);
  arrived_.wait(lock, [&]() ASSAY_REQUIRES(mutex_) { return waiting_.size() == count; });
}

}  // namespace assay::server
