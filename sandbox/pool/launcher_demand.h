// LauncherDemand remembers when jobs used launchers, so that LauncherPool can start others in
// advance.
//
//   LauncherDemand demand;
//   demand.take(now_ns);                                     // an unused launcher was handed out
//   const std::size_t lately = demand.since(now_ns - 1'000);  // 1
//   demand.use(now_ns);                                      // a job took or returned any launcher
//
// Not thread-safe.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>

namespace assay::sandbox {

class LauncherDemand {
 public:
  /// The maximum number of times that are remembered.
  static constexpr std::size_t kMost = 64;

  void use(std::int64_t now_ns) { used_ns_ = now_ns; }
  void take(std::int64_t now_ns) {
    use(now_ns);
    taken_ns_.push_back(now_ns);
    if (taken_ns_.size() > kMost) taken_ns_.pop_front();
  }
  /// Returns the number of unused launchers that were handed out after `since_ns`.
  std::size_t since(std::int64_t since_ns) const {
    return static_cast<std::size_t>(taken_ns_.end() -
                                    std::upper_bound(taken_ns_.begin(), taken_ns_.end(), since_ns));
  }
  /// Forgets the launchers that were handed out at `until_ns` or before.
  void forget(std::int64_t until_ns) {
    while (!taken_ns_.empty() && taken_ns_.front() <= until_ns) taken_ns_.pop_front();
  }
  void clear() { taken_ns_.clear(); }
  bool empty() const { return taken_ns_.empty(); }
  std::int64_t oldest_ns() const { return taken_ns_.front(); }
  /// The time at which a job last took or returned a launcher.
  std::int64_t used_ns() const { return used_ns_; }

 private:
  std::deque<std::int64_t> taken_ns_;  // in order
  std::int64_t used_ns_ = 0;
};

}  // namespace assay::sandbox
