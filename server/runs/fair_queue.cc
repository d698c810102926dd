#include "server/runs/fair_queue.h"

#include <algorithm>

namespace assay::server {

void FairQueue::push(const std::string& run, const std::string& job) {
  auto lane = std::find_if(lanes_.begin(), lanes_.end(),
                           [&](const Lane& known) { return known.run == run; });
  if (lane == lanes_.end()) lane = lanes_.insert(lanes_.end(), Lane{run, {}});
  lane->jobs.push_back(job);
  ++size_;
}

std::optional<std::string> FairQueue::pop() {
  if (lanes_.empty()) return std::nullopt;
  const auto lane = lanes_.begin();
  std::string job = std::move(lane->jobs.front());
  lane->jobs.pop_front();
  --size_;
  if (lane->jobs.empty()) {
    lanes_.erase(lane);
  } else {
    lanes_.splice(lanes_.end(), lanes_, lane);
  }
  return job;
}

bool FairQueue::remove(const std::string& job) {
  for (auto lane = lanes_.begin(); lane != lanes_.end(); ++lane) {
    const auto found = std::find(lane->jobs.begin(), lane->jobs.end(), job);
    if (found == lane->jobs.end()) continue;
    lane->jobs.erase(found);
    --size_;
    if (lane->jobs.empty()) lanes_.erase(lane);
    return true;
  }
  return false;
}

std::size_t FairQueue::position(const std::string& job) const {
  std::size_t own_turn = 0;  // jobs of its run before it
  std::size_t own_lane = lanes_.size();
  std::size_t index = 0;
  for (const Lane& lane : lanes_) {
    const auto found = std::find(lane.jobs.begin(), lane.jobs.end(), job);
    if (found != lane.jobs.end()) {
      own_lane = index;
      own_turn = static_cast<std::size_t>(found - lane.jobs.begin());
    }
    ++index;
  }
  if (own_lane == lanes_.size()) return 0;
  std::size_t before = own_turn;
  index = 0;
  for (const Lane& lane : lanes_) {  // a lane ahead of its own has one turn more
    if (index != own_lane)
      before += std::min(lane.jobs.size(), own_turn + (index < own_lane ? 1 : 0));
    ++index;
  }
  return before + 1;
}

std::size_t FairQueue::size_of(const std::string& run) const {
  const auto lane = std::find_if(lanes_.begin(), lanes_.end(),
                                 [&](const Lane& known) { return known.run == run; });
  return lane == lanes_.end() ? 0 : lane->jobs.size();
}

}  // namespace assay::server
