#include "sandbox/gpu/judge_group.h"

#include <cstdint>
#include <string>
#include <utility>

#include "base/log.h"

namespace assay::sandbox {

JudgeGroup::JudgeGroup(const Options& options) : queue(options.limits), make_(options.make) {
  for (int i = 0; i < options.limits.judges; ++i)
    judges_.push_back(std::make_shared<Judge>(make_(i)));
  if (options.make_describing) describing_.emplace(options.make_describing());
  describer_.emplace(describing_ ? *describing_ : *judges_.front());
  if (!options.start) return;
  // An error is repeated by the first request, which starts the process again.
  const auto deadline = [stop = shutdown_.get_token()] {
    return Deadline::after_ms(Judge::kStartMs, stop);
  };
  if (describing_) starters_.emplace_back([this, deadline] { describing_->ready(deadline()); });
  starters_.emplace_back([this, deadline] {
    for (const std::shared_ptr<Judge>& judge : judges_) {
      if (shutdown_.stop_requested()) return;
      judge->ready(deadline());
    }
  });
}

JudgeGroup::~JudgeGroup() {
  shutdown_.request_stop();
  for (std::thread& starter : starters_) starter.join();
}

Result<JudgeGroup::Alone> JudgeGroup::judge_alone(const Deadline& deadline) {
  Result<FifoSemaphore::Slot> slot = lonely_.acquire(deadline);
  if (!slot) return fail(slot.error());
  auto judge = std::make_shared<Judge>(make_(queue.judges()));
  {
    const MutexLock lock(mutex_);
    alone_ = judge;
  }
  // The start has a deadline of its own, so that it takes no time from the judge's first request.
  // An error is repeated by that request, which starts the process again.
  (void)judge->ready(Deadline::after_ms(Judge::kStartMs, deadline.stop()));
  return Alone{std::move(*slot), std::move(judge)};
}

std::vector<std::shared_ptr<Judge>> JudgeGroup::all() {
  std::vector<std::shared_ptr<Judge>> found = judges_;
  const MutexLock lock(mutex_);
  if (std::shared_ptr<Judge> alone = alone_.lock()) found.push_back(std::move(alone));
  return found;
}

Status JudgeGroup::settle(const std::string& job, const Deadline& deadline) {
  const std::int64_t each_ms = deadline.remaining_ms();
  for (const std::shared_ptr<Judge>& judge : all()) {
    Status idle = judge->settle(job, Deadline::after_ms(each_ms, deadline.stop()));
    if (idle) continue;
    if (idle.error().code == ErrorCode::cancelled) return idle;
    // The judge's process was ended, so it has no work on the device.
    log::warning("a judge did not end its work before a job was timed",
                 {{"job", job}, {"error", to_string(idle.error().code)}});
  }
  return {};
}

void JudgeGroup::free_memory(const Deadline& deadline) {
  const std::int64_t each_ms = deadline.remaining_ms();
  // A judge that does not answer keeps its memory, which is no error of the job that needs more.
  for (const std::shared_ptr<Judge>& judge : all())
    (void)judge->free_memory(Deadline::after_ms(each_ms, deadline.stop()));
}

}  // namespace assay::sandbox
