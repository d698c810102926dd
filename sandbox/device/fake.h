// The fake device runs the whole pipeline without processes, Python or a GPU, for tests and CI.
//
//   const std::unique_ptr<Device> device = make_fake_device();
//   job.source = "# fake: error=timeout\n";
//   JobMonitor monitor;
//   const Verdict verdict = device->execute(job, monitor);
//   check(verdict.error_kind == ErrorKind::timeout);  // true
//
// Comments in the submission control the verdict:
//   # fake: pass            every case passes, as without any such comment
//   # fake: fail            every case fails with wrong_result
//   # fake: error=timeout   the job ends with this ErrorKind, at this line
//   # fake: sleep_ms=500    the run stage takes this long; Limits::run_wall_ms ends it in a timeout
//   # fake: perf=1.2        profile and grade jobs report latencies with this speed-up
//
// A source may contain several directives. An unknown directive ends the job with `unsupported`,
// and the message lists the valid directives. Results are deterministic. Verdicts have the tier
// none, because nothing is judged. Thread-safe: jobs share no state.
#pragma once

#include <memory>

#include "sandbox/job/device.h"

namespace assay::sandbox {

/// The name of the device.
inline constexpr const char* kFakeDevice = "fake";
inline constexpr const char* kFakeTierReason = "the fake device judges nothing";
inline constexpr int kFakeConcurrency = 2;

std::unique_ptr<Device> make_fake_device(int concurrency = kFakeConcurrency);

}  // namespace assay::sandbox
