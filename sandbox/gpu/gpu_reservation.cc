#include "sandbox/gpu/gpu_reservation.h"

#include <cstdint>
#include <utility>

namespace assay::sandbox {
namespace {

constexpr std::int64_t kSettleMs = 30'000;

}  // namespace

/// Gives back what it has, then waits: a holder that waited for more could wait for itself.
bool GpuReservation::take(bool alone) {
  if (hold_ && hold_->alone() == alone) return true;
  release();
  run_.enter(Stage::queue);
  Result<GpuLock::Hold> taken =
      alone ? lease_.alone(run_.deadline(kForeverMs)) : lease_.share(run_.deadline(kForeverMs));
  if (!taken) return run_.fail_infrastructure(taken.error(), "waiting for the GPU");
  hold_.emplace(std::move(*taken));
  if (!alone) return true;
  // Nobody else starts anything on the GPU from here on; what a judge began for them may still be
  // at work.
  for (const auto& judge : judges_) {
    const Status settled = judge->settle(run_.job().id, run_.deadline(kSettleMs));
    if (!settled)
      return run_.fail_infrastructure(settled.error(),
                                      "waiting for the judge to be done with the GPU");
  }
  return true;
}

}  // namespace assay::sandbox
