// The fake device: the whole pipeline without processes, Python or a GPU, for tests and CI. What
// happens is written in the submission, in comments of the form
//
//   # fake: pass                 every case passes (also what a source without any such comment
//   does) # fake: fail                 every case fails with wrong_result # fake: error=timeout the
//   job ends with that ErrorKind, at this line # fake: sleep_ms=500         the run stage takes
//   that long; longer than Limits::run_wall_ms ends in timeout # fake: perf=1.2             profile
//   and grade jobs report latencies with this speed-up
//
// Several may stand in one source; an unknown one ends in `unsupported`, naming the valid ones.
// Deterministic. It judges nothing, and its verdicts say so: tier none. Thread-safe: jobs share no
// state.
#pragma once

#include <memory>

#include "sandbox/job/device.h"

namespace assay::sandbox {

inline constexpr const char* kFakeTierReason = "the fake device judges nothing";
inline constexpr int kFakeConcurrency = 2;

std::unique_ptr<Device> make_fake_device(int concurrency = kFakeConcurrency);

}  // namespace assay::sandbox
