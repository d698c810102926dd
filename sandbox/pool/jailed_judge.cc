#include "sandbox/pool/jailed_judge.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>

#include "base/log.h"
#include "sandbox/job/processors.h"

namespace assay::sandbox {
namespace {

// The time in which a process that has closed its socket ends.
constexpr std::int64_t kEndOfJailedJudgeMs = 500;
constexpr std::int64_t kPercentOfProcessor = 100;
constexpr std::size_t kLoggedOfStderr = 1'500;  // bytes; the innermost stack frames come first

/// A jailed judge of a server that runs as root is another user, who must be able to read the
/// suite.
Status check_readable(const std::string& suite) {
  struct ::stat facts {};
  if (::geteuid() != 0 || ::stat(suite.c_str(), &facts) != 0) return {};
  constexpr mode_t kNeeded = S_IROTH | S_IXOTH;
  if ((facts.st_mode & kNeeded) == kNeeded) return {};
  return fail(ErrorCode::unavailable,
              "the judges of an imported suite run as another user, who "
              "cannot read it; run: chmod -R o+rX " +
                  suite);
}

Limits judge_limits() {
  Limits limits;
  limits.memory_bytes = kJudgeMemoryBytes;
  limits.processes = kJudgeProcesses;
  limits.tmp_bytes = kJudgeTmpBytes;
  const auto processors = static_cast<std::int64_t>(usable_processors());
  limits.cpu_percent = kPercentOfProcessor * processors;
  return limits;
}

}  // namespace

SandboxConfig judge_pool_config(SandboxConfig config, std::size_t number,
                                std::optional<GpuAccess> gpu) {
  config.judged_suite = config.imported_suites.at(number);
  config.judge_slots = CandidatePool::kJudgeSlots / static_cast<int>(config.imported_suites.size());
  config.first_judge_slot = static_cast<int>(number) * config.judge_slots;
  config.gpu = std::move(gpu);
  config.job_limits = judge_limits();
  config.parked_candidates = 1;
  config.candidates_yield = false;
  return config;
}

Result<JudgeReady> JailedJudgeProcess::start(const Deadline& deadline) {
  stop();
  ASSAY_RETURN_IF_ERROR(check_readable(pool_.judged_suite()));
  Result<std::unique_ptr<Candidate>> candidate = pool_.take(judge_limits(), deadline);
  if (!candidate) return fail(candidate.error());
  candidate_ = std::move(*candidate);
  const nlohmann::json header = {{"type", "judge"}, {"device", device_}};
  const Status sent = send_frame(candidate_->socket(), header, {}, {}, deadline);
  Result<Frame> frame = sent ? receive_frame(candidate_->socket(), deadline) : fail(sent.error());
  Result<JudgeReady> facts = frame ? parse_judge_ready(*frame) : fail(frame.error());
  if (facts) return facts;
  const std::optional<std::string> end = how_it_ended();
  stop();
  return fail(facts.error().code, "the judge did not become ready: " + facts.error().message +
                                      (end ? "; " + *end : ""));
}

std::optional<std::string> JailedJudgeProcess::how_it_ended() {
  if (!candidate_) return std::nullopt;
  const bool out_of_memory = candidate_->out_of_memory();
  const std::optional<ExitStatus> status = candidate_->end(kEndOfJailedJudgeMs);
  if (candidate_->was_killed()) return std::nullopt;
  if (out_of_memory)
    return "it used more than " + std::to_string(kJudgeMemoryBytes) + " bytes (kJudgeMemoryBytes)";
  // An agent may read how the judge ended, but not what the reference or the interpreter wrote.
  if (const std::string text = candidate_->stderr_text(); !text.empty())
    log::warning("a judge of an imported suite ended",
                 {{"device", device_}, {"stderr", text.substr(0, kLoggedOfStderr)}});
  return status ? assay::describe(*status) : std::string("its process ended");
}

}  // namespace assay::sandbox
