// Tests whether a candidate of the host tier is charged with a lack of GPU memory. The judge of
// these tests has no GPU, and reports the numbers that a test names.
#include "sandbox/gpu/candidate_memory.h"

#include <cstdint>
#include <memory>
#include <optional>

#include "tests/catch.h"
#include "tests/sandbox/pool/scripted_judge.h"

using namespace assay;
using namespace assay::sandbox;
using assay::sandbox::testing::ScriptedJudge;

namespace {

constexpr std::int64_t kGib = std::int64_t{1} << 30;
constexpr std::int64_t kAllowed = 32 * kGib;

DeviceRoom room(std::int64_t total, std::int64_t own, std::int64_t others, std::int64_t before) {
  return {.total_bytes = total * kGib,
          .own_bytes = own * kGib,
          .others_bytes = others * kGib,
          .others_before_bytes = before * kGib};
}

/// Returns the kind of a run's error after a candidate has lacked memory and a judge on a GPU of
/// 140 GiB has counted that others hold this much. `alone` means that this is the attempt in which
/// no other job has memory of the GPU.
ErrorKind kind_with(std::int64_t others, std::optional<JudgeTrouble>& trouble, bool hidden = false,
                    bool alone = true) {
  ScriptedJudge::Log log;
  Judge judge(
      std::make_unique<ScriptedJudge>(log, [others](int socket, const nlohmann::json& request) {
        nlohmann::json answer = {{"job", request.value("job", "")}, {"case", "small"}};
        answer["type"] = request.at("type") == "references" ? "referenced" : "freed";
        answer["total_bytes"] = 140 * kGib;
        answer["own_bytes"] = 20 * kGib;
        answer["others_bytes"] = others * kGib;
        answer["others_before_bytes"] = 5 * kGib;
        ScriptedJudge::send(socket, answer);
      }));
  (void)judge.compute_references({"job_1", "small"}, false, Deadline::after_ms(60'000));
  Job job;
  job.id = "job_1";
  job.limits.gpu_memory_bytes = kAllowed;
  JobMonitor monitor;
  JobExecution run(job, monitor);
  run.begin_again(false, alone);
  if (hidden) run.tell_hidden();
  run.fail(ErrorKind::gpu_memory_limit, "OutOfMemoryError");
  excuse_for_memory(run, judge, std::nullopt, allowed_bytes(job.limits, false));
  trouble = run.judge_trouble();
  return run.verdict().error_kind;
}

}  // namespace

TEST_CASE("a job whose candidate lacked memory because of others runs again") {
  std::optional<JudgeTrouble> trouble;
  CHECK(kind_with(130, trouble) == ErrorKind::internal_error);
  CHECK(trouble == JudgeTrouble::no_memory);
  CHECK(kind_with(5, trouble) == ErrorKind::gpu_memory_limit);
  CHECK_FALSE(trouble);
}

TEST_CASE("a candidate beside other jobs is not charged, whatever the judge counts later") {
  // The judge of another job has taken and given back memory in the meantime.
  std::optional<JudgeTrouble> trouble;
  CHECK(kind_with(5, trouble, false, /*alone=*/false) == ErrorKind::internal_error);
  CHECK(trouble == JudgeTrouble::no_memory);
  CHECK(lack_beside_jobs(false, kAllowed));
  CHECK_FALSE(lack_beside_jobs(true, kAllowed));
  CHECK(kind_with(5, trouble, /*hidden=*/true, /*alone=*/false) == ErrorKind::gpu_memory_limit);
}

TEST_CASE("a lack that only a candidate with hidden cases reports is not excused") {
  std::optional<JudgeTrouble> trouble;
  CHECK(kind_with(130, trouble, true) == ErrorKind::gpu_memory_limit);
  CHECK_FALSE(trouble);
}

TEST_CASE("a candidate that had all the memory that it may use is to blame for a lack of it") {
  CHECK_FALSE(lack_of_room(room(140, 20, 5, 5), kAllowed));
  CHECK_FALSE(lack_of_room(room(140, 20, 88, 88), kAllowed));
}

TEST_CASE("a lack of GPU memory that other processes caused is no fault of the candidate") {
  const std::optional<Error> after = lack_of_room(room(140, 20, 89, 5), kAllowed);
  REQUIRE(after);
  CHECK(after->code == ErrorCode::resource_exhausted);
  CHECK(after->message ==
        "other work left 31 GiB of the GPU's 140 GiB of memory, and a submission may use 32 "
        "GiB; this is no fault of the submission");
  CHECK(lack_of_room(room(140, 20, 5, 89), kAllowed));     // they have ended meanwhile
  CHECK(lack_of_room(room(140, 110, 5, 5), kAllowed));     // the judge's own tensors
  CHECK(lack_of_room(room(140, 20, 130, 130), kAllowed));  // less than nothing is left
}

TEST_CASE("a small GPU lacks no memory because of its size alone") {
  CHECK_FALSE(lack_of_room(room(24, 4, 3, 3), kAllowed));
  CHECK(lack_of_room(room(24, 4, 5, 3), kAllowed));
}

TEST_CASE("a judge without a GPU gives no evidence of a lack") {
  CHECK_FALSE(lack_of_room(DeviceRoom{}, kAllowed));
}

TEST_CASE("a candidate that took the judge's memory is to blame only for what its end gives back") {
  CHECK_FALSE(lack_of_others(room(140, 1, 5, 5), 130 * kGib, kAllowed));
  const std::optional<Error> lack = lack_of_others(room(140, 1, 100, 5), 130 * kGib, kAllowed);
  REQUIRE(lack);
  CHECK(lack->code == ErrorCode::resource_exhausted);
  CHECK(lack->message.find("hold 100 GiB") != std::string::npos);
  CHECK(lack_of_others(room(140, 1, 5, 5), 45 * kGib, kAllowed));
}
