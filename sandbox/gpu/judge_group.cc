#include "sandbox/gpu/judge_group.h"

#include <cstdint>
#include <string>
#include <utility>

namespace assay::sandbox {
namespace {

constexpr std::int64_t kJudgeStartMs = 120'000;

}  // namespace

JudgeGroup::JudgeGroup(const Options& options) : queue(options.limits), make_(options.make) {
  for (int i = 0; i < options.limits.judges; ++i)
    judges_.push_back(std::make_shared<Judge>(make_(i)));
  if (options.make_describing) describing_.emplace(options.make_describing());
  describer_.emplace(describing_ ? *describing_ : *judges_.front());
  if (!options.start) return;
  // An error is repeated by the first request, which starts the process again.
  const auto deadline = [stop = shutdown_.get_token()] {
    return Deadline::after_ms(kJudgeStartMs, stop);
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
  const MutexLock lock(mutex_);
  alone_ = judge;
  return Alone{std::move(*slot), std::move(judge)};
}

std::vector<std::shared_ptr<Judge>> JudgeGroup::all() {
  std::vector<std::shared_ptr<Judge>> found = judges_;
  const MutexLock lock(mutex_);
  if (std::shared_ptr<Judge> alone = alone_.lock()) found.push_back(std::move(alone));
  return found;
}

Status JudgeGroup::settle(const std::string& job, const Deadline& deadline) {
  for (const std::shared_ptr<Judge>& judge : all()) {
    const Status idle = judge->settle(job, deadline);
    if (!idle && idle.error().code != ErrorCode::unavailable) return idle;
  }
  return {};
}

void JudgeGroup::free_memory(const Deadline& deadline) {
  // A judge that does not answer keeps its memory, which is no error of the job that needs more.
  for (const std::shared_ptr<Judge>& judge : all()) (void)judge->free_memory(deadline);
}

}  // namespace assay::sandbox
