#include "server/workers/waiting_jobs.h"

#include <algorithm>
#include <iterator>

namespace assay::server {

std::int64_t WaitingJobs::add(Kind kind) {
  const auto can_be_passed = [](const Job& one) {
    return one.kind.batch && !one.kind.alone && one.passed < kMostPasses;
  };
  auto place = jobs_.end();
  while (!kind.batch && place != jobs_.begin() && can_be_passed(*std::prev(place)))
    ++(--place)->passed;
  jobs_.insert(place, {.ticket = next_ticket_, .kind = kind});
  return next_ticket_++;
}

void WaitingJobs::remove(std::int64_t ticket) {
  if (!jobs_.empty() && jobs_.front().ticket == ticket) emptied_.reset();
  std::erase_if(jobs_, [&](const Job& one) { return one.ticket == ticket; });
}

std::int64_t WaitingJobs::slots(std::int64_t of_a_worker) const {
  std::int64_t sum = 0;
  for (const Job& one : jobs_) sum += one.kind.alone ? of_a_worker : 1;
  return sum;
}

bool WaitingJobs::is_first_shared(std::int64_t ticket) const {
  const auto first =
      std::find_if(jobs_.begin(), jobs_.end(), [](const Job& one) { return !one.kind.alone; });
  return first != jobs_.end() && first->ticket == ticket;
}

bool WaitingJobs::may_be_next(std::int64_t ticket) const {
  return jobs_.front().ticket == ticket || is_first_shared(ticket);
}

std::optional<std::size_t> WaitingJobs::choose_emptied(const std::vector<WorkerLoad>& workers) {
  std::optional<std::size_t> least, chosen;
  for (std::size_t i = 0; i < workers.size(); ++i) {
    if (!workers[i].takes_jobs) continue;
    if (!least || workers[i].taken < workers[*least].taken) least = i;
    if (workers[i].number == emptied_) chosen = i;
  }
  // The chosen worker stays, unless another one is empty already.
  if (chosen && workers[*least].taken > 0) return chosen;
  emptied_ = least ? std::optional(workers[*least].number) : std::nullopt;
  return least;
}

std::optional<std::size_t> WaitingJobs::worker_for(std::int64_t ticket,
                                                   std::vector<WorkerLoad> workers,
                                                   std::int64_t needed) {
  if (jobs_.front().kind.alone) {
    const std::optional<std::size_t> emptied = choose_emptied(workers);
    if (jobs_.front().ticket == ticket)
      return emptied && workers[*emptied].taken == 0 ? emptied : std::nullopt;
    if (emptied) workers[*emptied].takes_jobs = false;
  }
  if (!is_first_shared(ticket)) return std::nullopt;
  return place_job(workers, needed);
}

}  // namespace assay::server
