#include "server/runs/job_queue.h"

#include <algorithm>
#include <utility>

namespace assay::server {
namespace {

constexpr double kWeight = 0.2;  // of the newest job in the mean

}  // namespace

void JobQueue::push(const std::string& run, const std::string& job) {
  auto turn = std::find_if(turns_.begin(), turns_.end(),
                           [&](const Turn& known) { return known.run == run; });
  if (turn == turns_.end()) turn = turns_.insert(turns_.end(), Turn{run, {}});
  turn->jobs.push_back(job);
  ++size_;
}

std::optional<std::string> JobQueue::pop() {
  if (turns_.empty()) return std::nullopt;
  const auto turn = turns_.begin();
  std::string job = std::move(turn->jobs.front());
  turn->jobs.pop_front();
  --size_;
  if (turn->jobs.empty()) {
    turns_.erase(turn);
  } else {
    turns_.splice(turns_.end(), turns_, turn);
  }
  return job;
}

bool JobQueue::remove(const std::string& job) {
  for (auto turn = turns_.begin(); turn != turns_.end(); ++turn) {
    const auto found = std::find(turn->jobs.begin(), turn->jobs.end(), job);
    if (found == turn->jobs.end()) continue;
    turn->jobs.erase(found);
    --size_;
    if (turn->jobs.empty()) turns_.erase(turn);
    return true;
  }
  return false;
}

std::size_t JobQueue::position(const std::string& job) const {
  std::size_t round = 0;  // jobs of the same run before it
  std::size_t own = turns_.size();
  std::size_t index = 0;
  for (const Turn& turn : turns_) {
    const auto found = std::find(turn.jobs.begin(), turn.jobs.end(), job);
    if (found != turn.jobs.end()) {
      own = index;
      round = static_cast<std::size_t>(found - turn.jobs.begin());
    }
    ++index;
  }
  if (own == turns_.size()) return 0;
  std::size_t before = round;
  index = 0;
  for (const Turn& turn : turns_) {  // a run before its own run has one more turn
    if (index != own) before += std::min(turn.jobs.size(), round + (index < own ? 1 : 0));
    ++index;
  }
  return before + 1;
}

void JobQueue::add_duration(std::int64_t job_ms) {
  const auto newest = static_cast<double>(job_ms);
  mean_ms_ = mean_ms_ ? *mean_ms_ + kWeight * (newest - *mean_ms_) : newest;
}

std::optional<std::int64_t> JobQueue::expected_wait_ms(std::size_t position) const {
  if (!mean_ms_) return std::nullopt;
  return static_cast<std::int64_t>(*mean_ms_ * static_cast<double>(position) / workers_);
}

}  // namespace assay::server
