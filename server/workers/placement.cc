#include "server/workers/placement.h"

#include <algorithm>

namespace assay::server {

std::int64_t workers_needed(const PoolSize& size, std::int64_t jobs) {
  return std::clamp((jobs + size.per_worker - 1) / size.per_worker, size.least, size.most);
}

std::optional<std::size_t> place_job(const std::vector<WorkerLoad>& workers, std::int64_t needed,
                                     bool alone) {
  std::optional<std::size_t> found;
  std::int64_t seen = 0;  // workers that take jobs
  for (std::size_t i = 0; i < workers.size(); ++i) {
    const WorkerLoad& one = workers[i];
    if (!one.takes_jobs) continue;
    if (++seen > needed && found) break;
    if (alone ? one.taken > 0 : one.taken >= one.capacity) continue;
    // Compares taken / capacity without a division.
    if (!found || one.taken * workers[*found].capacity < workers[*found].taken * one.capacity)
      found = i;
    if (seen > needed) break;
  }
  return found;
}

}  // namespace assay::server
