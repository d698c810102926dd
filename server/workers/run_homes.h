// RunHomes knows which worker ran the last job of each run. That worker has a GPU context of the
// run, and the recordings of its sources, so the run's next job is faster there (placement.h).
//
//   RunHomes homes(4'096);
//   homes.set("run_1", 7);
//   homes.of("run_1");  // 7
//
// If there are too many runs, it forgets the one that it was told about longest ago. Not
// thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <list>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>

namespace assay::server {

class RunHomes {
 public:
  explicit RunHomes(std::size_t most) : most_(most) {}

  /// Notes that a job of the run goes to the worker with this number. Jobs without a run have no
  /// home.
  void set(const std::string& run, std::int64_t worker) {
    if (run.empty()) return;
    if (const auto known = places_.find(run); known != places_.end()) homes_.erase(known->second);
    homes_.emplace_front(run, worker);
    places_[run] = homes_.begin();
    if (homes_.size() <= most_) return;
    places_.erase(homes_.back().first);
    homes_.pop_back();
  }
  std::optional<std::int64_t> of(const std::string& run) const {
    const auto known = places_.find(run);
    if (known == places_.end()) return std::nullopt;
    return known->second->second;
  }

 private:
  using Homes = std::list<std::pair<std::string, std::int64_t>>;  // the newest first

  std::size_t most_;
  Homes homes_;
  std::unordered_map<std::string, Homes::iterator> places_;
};

}  // namespace assay::server
