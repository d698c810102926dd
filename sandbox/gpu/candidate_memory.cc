#include "sandbox/gpu/candidate_memory.h"

#include <algorithm>
#include <string>

namespace assay::sandbox {
namespace {

std::string gib(std::int64_t bytes) { return std::to_string(bytes >> 30) + " GiB"; }

Error lack(const std::string& what, std::int64_t allowed_bytes) {
  return {.code = ErrorCode::resource_exhausted,
          .message = what + ", and a submission may use " + gib(allowed_bytes) +
                     "; this is no fault of the submission"};
}

}  // namespace

std::int64_t allowed_bytes(const Limits& limits, bool with_shadows) {
  constexpr std::int64_t kWithShadows = 3;
  return (with_shadows ? kWithShadows : 1) * limits.gpu_memory_bytes;
}

std::optional<Error> lack_of_room(const DeviceRoom& room, std::int64_t allowed_bytes) {
  const std::int64_t others = std::max(room.others_bytes, room.others_before_bytes);
  const std::int64_t left = room.total_bytes - room.own_bytes - others;
  if (left >= std::min(allowed_bytes, room.total_bytes - kContextsBytes)) return std::nullopt;
  return lack("other work left " + gib(std::max<std::int64_t>(left, 0)) + " of the GPU's " +
                  gib(room.total_bytes) + " of memory",
              allowed_bytes);
}

std::optional<Error> lack_of_others(const DeviceRoom& room, std::int64_t others_bytes,
                                    std::int64_t allowed_bytes) {
  if (others_bytes - room.others_bytes > allowed_bytes + kContextsBytes) return std::nullopt;
  return lack("the judge had no GPU memory left, and other processes hold " +
                  gib(room.others_bytes) + " of it",
              allowed_bytes);
}

std::optional<Error> lack_beside_jobs(bool had_all_memory, std::int64_t allowed_bytes) {
  if (had_all_memory) return std::nullopt;
  return lack("other jobs of this server had memory of the GPU at the same time", allowed_bytes);
}

void excuse_for_memory(JobExecution& run, Judge& judge, std::optional<std::int64_t> others_bytes,
                       std::int64_t allowed_bytes) {
  // A submission that has got hidden cases could report a lack of memory to be judged again.
  if (run.verdict().tells_hidden && !others_bytes) return;
  const Result<DeviceRoom> room =
      judge.free_memory(run.deadline(run.job().limits.judge_wall_ms), run.job().id);
  if (!room || room->total_bytes == 0) return;
  std::optional<Error> lack = lack_of_room(*room, allowed_bytes);
  if (!lack && others_bytes) lack = lack_of_others(*room, *others_bytes, allowed_bytes);
  if (!lack) lack = lack_beside_jobs(run.needs_all_memory(), allowed_bytes);
  if (!lack) return;
  run.clear_error();
  run.fail_by_judge(*lack, "running on the host tier");
}

}  // namespace assay::sandbox
