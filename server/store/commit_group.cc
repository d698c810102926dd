#include "server/store/commit_group.h"

namespace assay::server {

Status CommitGroup::commit(Apply apply) {
  Write mine{.apply = std::move(apply)};
  MutexLock lock(mutex_);
  waiting_.push_back(&mine);
  arrived_.notify_all();
  committed_.wait(lock, [&]() ASSAY_REQUIRES(mutex_) { return mine.done || !committing_; });
  if (!mine.done) {
    committing_ = true;
    const Writes together = std::exchange(waiting_, {});  // `mine` is one of them
    lock.unlock();
    commit_all_(together);
    lock.lock();
    for (Write* write : together) write->done = true;
    committing_ = false;
    committed_.notify_all();
  }
  return std::move(mine.status);
}

void CommitGroup::wait_for_waiting(std::size_t count) const {
  MutexLock lock(mutex_);
  arrived_.wait(lock, [&]() ASSAY_REQUIRES(mutex_) { return waiting_.size() == count; });
}

}  // namespace assay::server
