#include "server/runs/verdict_queue.h"

#include <utility>

namespace assay::server {

VerdictQueue::VerdictQueue(VerdictWriter& writer, std::size_t most, std::stop_token stop,
                           Announce announce)
    : writer_(writer),
      most_(most),
      stop_(std::move(stop)),
      announce_(std::move(announce)),
      thread_([this] { work(); }) {}

void VerdictQueue::push(std::shared_ptr<ActiveJob> job, sandbox::Verdict verdict) {
  {
    MutexLock lock(mutex_);
    taken_.wait(lock, stop_, [&]() ASSAY_REQUIRES(mutex_) { return waiting_.size() < most_; });
    waiting_.push_back({std::move(job), std::move(verdict)});
  }
  arrived_.notify_one();
}

void VerdictQueue::work() {
  for (bool stopped = false; !stopped;) {
    std::vector<Waiting> together;
    {
      MutexLock lock(mutex_);
      arrived_.wait(lock, stop_, [&]() ASSAY_REQUIRES(mutex_) { return !waiting_.empty(); });
      stopped = stop_.stop_requested();
      together = std::exchange(waiting_, {});
    }
    taken_.notify_all();
    if (!together.empty()) store(std::move(together));
  }
}

void VerdictQueue::store(std::vector<Waiting> together) {
  std::vector<VerdictWriter::Judged> judged;
  for (Waiting& one : together) judged.push_back({&one.job->job(), std::move(one.verdict)});
  std::vector<sandbox::Verdict> shown = writer_.store_all(judged, stop_);
  for (std::size_t i = 0; i < together.size(); ++i)
    announce_(*together[i].job, std::move(shown[i]));
}

}  // namespace assay::server
