// GpuReservation: what one job has of its GPU, which it has only while the GPU is at work for it:
// compiling and recording are not.
//
//   GpuTurn turn(run, lease, judges);
//   if (!turn.share()) return;                      // beside others, whose answers are only
//   checked too; run's verdict says why not turn.release(); if (!turn.alone()) return; // to be
//   timed: no other job is on the GPU, and no judge computes anything
//
// Gives back what it has when it goes. Belongs to one thread.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "sandbox/gpu/gpu_lock.h"
#include "sandbox/job/job_execution.h"
#include "sandbox/pool/judge.h"

namespace assay::sandbox {

using Judges = std::vector<std::unique_ptr<Judge>>;

class GpuReservation {
 public:
  /// `judges`: all that use this GPU.
  GpuReservation(JobExecution& run, GpuLock& lease, const Judges& judges)
      : run_(run), lease_(lease), judges_(judges) {}

  bool share() { return take(false); }
  bool alone() { return take(true); }
  void release() { hold_.reset(); }
  bool is_alone() const { return hold_ && hold_->alone(); }

 private:
  bool take(bool alone);

  JobExecution& run_;
  GpuLock& lease_;
  const Judges& judges_;
  std::optional<GpuLock::Hold> hold_;
};

}  // namespace assay::sandbox
