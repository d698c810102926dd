#include "server/workers/placement.h"

#include <algorithm>

namespace assay::server {

std::int64_t workers_needed(const PoolSize& size, std::int64_t jobs) {
  return std::clamp((jobs + size.per_worker - 1) / size.per_worker, size.least, size.most);
}

std::optional<std::size_t> place_job(const std::vector<WorkerLoad>& workers, std::int64_t needed) {
  std::optional<std::size_t> found, home;
  std::int64_t seen = 0;  // workers that take jobs
  for (std::size_t i = 0; i < workers.size(); ++i) {
    const WorkerLoad& one = workers[i];
    if (!one.takes_jobs) continue;
    if (++seen > needed && found) break;
    if (one.taken >= one.capacity) continue;
    if (one.is_home) home = i;
    // Compares taken / capacity without a division.
    if (!found || one.taken * workers[*found].capacity < workers[*found].taken * one.capacity)
      found = i;
    if (seen > needed) break;
  }
  if (!home) return found;
  const WorkerLoad& least = workers[*found];
  const WorkerLoad& own = workers[*home];
  if (least.taken == 0 && own.taken > 0) return found;
  const std::int64_t more = own.taken * least.capacity - least.taken * own.capacity;
  return more * kHomeSlack <= own.capacity * least.capacity ? home : found;
}

void avoid_doubted(std::vector<WorkerLoad>& workers) {
  const bool has_others = std::any_of(workers.begin(), workers.end(), [](const WorkerLoad& one) {
    return one.takes_jobs && !one.is_doubted;
  });
  if (!has_others) return;
  for (WorkerLoad& one : workers) one.takes_jobs &= !one.is_doubted;
}

SizeChange size_change(const std::vector<KeptWorker>& workers, std::int64_t needed,
                       std::int64_t most) {
  const auto all = static_cast<std::int64_t>(workers.size());
  const auto doubted = std::count_if(workers.begin(), workers.end(),
                                     [](const KeptWorker& one) { return one.is_doubted; });
  const std::int64_t sound = all - doubted;
  SizeChange change;
  change.starts = std::max<std::int64_t>(0, std::min(needed - sound, most - all));
  if (all <= needed) return change;
  for (std::size_t i = 0; i < workers.size(); ++i) {
    const KeptWorker& one = workers[i];
    if (!one.is_idle || (!one.is_doubted && sound <= needed)) continue;
    // The youngest of these ends, because jobs go to the oldest workers.
    if (!change.end || one.is_doubted || !workers[*change.end].is_doubted) change.end = i;
  }
  return change;
}

}  // namespace assay::server
