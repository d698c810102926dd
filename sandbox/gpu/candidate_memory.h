// Decides whether a candidate of the host tier is to blame for a lack of GPU memory. Only what the
// judge has counted decides, because a candidate may report whatever it wants.
//
//   // The candidate has ended, so what it held is free again.
//   if (run.verdict().error_kind == ErrorKind::gpu_memory_limit)
//     excuse_for_memory(run, judge, std::nullopt, allowed_bytes(run.job().limits, false));
#pragma once

#include <cstdint>
#include <optional>

#include "base/result.h"
#include "sandbox/job/job_execution.h"
#include "sandbox/pool/judge.h"

namespace assay::sandbox {

/// The GPU memory that the contexts of launchers, judge and candidate may take. It counts neither
/// as the candidate's nor as that of other processes.
inline constexpr std::int64_t kContextsBytes = std::int64_t{8} << 30;

/// Returns how much of the GPU's memory a candidate of the host tier may use. If it also returns
/// its outputs without the results of its kernels (`with_shadows`), it may use three times the
/// limit of the job, because it then has two copies of each tensor that a kernel may have written
/// (harness/candidate/shadows.py). The candidate, its judge and excuse_for_memory() must have the
/// same number: the judge charges a candidate that holds more.
std::int64_t allowed_bytes(const Limits& limits, bool with_shadows);

/// Returns an error with the code `resource_exhausted` if the candidate could not have had
/// `allowed_bytes` of the GPU's memory, because the judge or other processes held it, before the
/// candidate started or after it ended. A GPU that is smaller than `allowed_bytes` lacks nothing.
/// Returns nothing if the judge has no GPU.
std::optional<Error> lack_of_room(const DeviceRoom& room, std::int64_t allowed_bytes);

/// The same for a candidate that left the judge no memory. `others_bytes` is what others than the
/// judge held at that moment. What they hold no longer was the candidate's. Returns nothing if that
/// is more than `allowed_bytes`.
std::optional<Error> lack_of_others(const DeviceRoom& room, std::int64_t others_bytes,
                                    std::int64_t allowed_bytes);

/// The same for a candidate beside which other jobs had memory of the GPU. Their judges may have
/// taken and given back memory in the meantime, which no number shows: each judge counts only when
/// it is asked, and knows only its own memory. So a candidate is to blame only for an attempt in
/// which its job had all of the memory for jobs (GpuScheduler::reserve_all_memory()).
std::optional<Error> lack_beside_jobs(bool had_all_memory, std::int64_t allowed_bytes);

/// Asks the judge, and replaces the error `gpu_memory_limit` of the run by one of Assay's own,
/// after which the job runs again, if the candidate lacked memory because of others. Without
/// evidence for that, the error stays. `others_bytes` is HostJudged::others_bytes, if the judge had
/// no memory left. Nothing is excused on the candidate's word after it has got hidden cases,
/// because a second attempt has other hidden inputs. The candidate may have had `allowed_bytes`.
void excuse_for_memory(JobExecution& run, Judge& judge, std::optional<std::int64_t> others_bytes,
                       std::int64_t allowed_bytes);

}  // namespace assay::sandbox
