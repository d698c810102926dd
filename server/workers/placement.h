// Decides which worker of a pool gets the next job. The functions are pure.
//
//   const std::int64_t needed = workers_needed({.per_worker = 4, .least = 1, .most = 8}, jobs);
//   place_job({{.taken = 3, .capacity = 12}, {.taken = 0, .capacity = 12}}, needed);  // 1
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace assay::server {

/// How many workers a pool may have.
struct PoolSize {
  std::int64_t per_worker = 1;  // the jobs for which a further worker is worth its start
  std::int64_t least = 0;
  std::int64_t most = 1;
};

inline constexpr std::int64_t kHomeSlack = 4;

/// One worker of a pool.
struct WorkerLoad {
  std::int64_t number = 0;    // identifies the worker
  std::int64_t taken = 0;     // the slots that jobs hold
  std::int64_t capacity = 1;  // all slots
  bool takes_jobs = true;     // false while it starts or drains, and before a health check
  bool is_doubted = false;    // its device has just failed a job
  bool is_home = false;       // it ran the last job of the run (run_homes.h)
};

/// Returns how many workers the pool needs for this many jobs, waiting ones included.
std::int64_t workers_needed(const PoolSize& size, std::int64_t jobs);

/// Returns the index of the worker that gets the next job, or nothing if no worker has a free slot.
/// `workers` is ordered by age, the oldest first. The job goes to that one of the oldest `needed`
/// workers whose share of taken slots is the smallest, so that no GPU is idle while another one is
/// busy. The other workers get it only if these are full, so that they become idle and can end.
///
/// The home of the job's run gets it although it has more jobs, as long as the shares differ by at
/// most 1 / kHomeSlack and no other one of these workers is without a job.
std::optional<std::size_t> place_job(const std::vector<WorkerLoad>& workers, std::int64_t needed);

/// Makes workers that are doubted take no jobs, unless all workers that take jobs are doubted.
void avoid_doubted(std::vector<WorkerLoad>& workers);

/// A worker of a pool that starts or takes jobs.
struct KeptWorker {
  bool is_idle = false;  // for so long that it may end
  bool is_doubted = false;
};

/// How a pool gets the size that it needs.
struct SizeChange {
  std::int64_t starts = 0;         // so many workers start
  std::optional<std::size_t> end;  // the index of the worker that ends
};

/// Returns how a pool of `workers` gets `needed` workers that are not doubted. Doubted workers
/// count only for the highest number, `most`. An idle doubted worker ends first, and one that is
/// not doubted ends only if the pool has more such workers than it needs.
SizeChange size_change(const std::vector<KeptWorker>& workers, std::int64_t needed,
                       std::int64_t most);

}  // namespace assay::server
