#include "sandbox/pool/reference_process.h"

#include <cstdint>
#include <utility>

namespace assay::sandbox {
namespace {

// The time in which a process that has closed its socket ends.
constexpr std::int64_t kEndOfReferenceMs = 500;

}  // namespace

Result<JudgeReady> ReferenceProcess::start(const Deadline& deadline) {
  stop();
  Result<std::unique_ptr<Candidate>> candidate = pool_.take(limits_, deadline);
  if (!candidate) return fail(candidate.error());
  candidate_ = std::move(*candidate);
  const nlohmann::json header = reference_header(reference_, limits_.reference_wall_ms, device_);
  const Status sent = send_frame(candidate_->socket(), header, reference_.source, {}, deadline);
  if (!sent) return fail(sent.error());
  Result<Frame> frame = receive_frame(candidate_->socket(), deadline);
  if (!frame) return fail(frame.error());
  return parse_judge_ready(*frame);
}

std::optional<std::string> ReferenceProcess::how_it_ended() {
  if (!candidate_) return std::nullopt;
  const bool out_of_memory = candidate_->out_of_memory();
  const std::optional<ExitStatus> status = candidate_->end(kEndOfReferenceMs);
  if (candidate_->was_killed()) return std::nullopt;
  if (out_of_memory)
    return "it used more than " + std::to_string(limits_.memory_bytes) + " bytes (memory_bytes)";
  return status ? "its process ended: " + assay::describe(*status)
                : std::string("its process ended");
}

void ReferenceProcess::stop() { pool_.give_back(std::move(candidate_)); }

}  // namespace assay::sandbox
