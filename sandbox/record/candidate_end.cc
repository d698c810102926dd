#include "sandbox/record/candidate_end.h"

#include <algorithm>
#include <csignal>
#include <string>

#include "sandbox/pool/process.h"

namespace assay::sandbox {
namespace {

// A time limit is no evidence if the main thread waited for a processor for more than the first
// share of it, while the whole process used less than the second share of one CPU core, or of the
// part of a core that its limit allows.
constexpr double kMostWaitingShare = 0.75, kLeastUsedShare = 0.25;

std::string mebibytes(std::int64_t bytes) { return std::to_string(bytes >> 20) + " MiB"; }

EndError time_limit(const CandidateEnd& end, const Limits& limits) {
  if (end.out_of_processes)
    return {ErrorKind::process_limit,
            "started more than " + std::to_string(limits.processes) + " processes and threads"};
  if (lacked_cpu(end.cpu, end.wall_ms, limits.cpu_percent))
    return {ErrorKind::internal_error,
            "the machine is overloaded: within the time limit of " + std::to_string(end.wall_ms) +
                " ms, the candidate waited " + std::to_string(end.cpu->waited_ms) +
                " ms for a processor"};
  return {ErrorKind::timeout, "ran longer than " + std::to_string(end.wall_ms) + " ms"};
}

EndError process_end(const CandidateEnd& end, const Limits& limits) {
  if (!end.status) return {ErrorKind::internal_error, "the zygote died with the candidate"};
  if (!end.ran_code && (end.was_killed || !end.status->by_signal()))
    return {ErrorKind::internal_error, "the candidate ended before it ran the submission"};
  if (end.was_killed)
    return {ErrorKind::protocol_error,
            "the candidate closed its channel before it had sent all results"};
  if (end.out_of_processes)
    return {ErrorKind::process_limit,
            "started more than " + std::to_string(limits.processes) + " processes and threads"};
  if (!end.status->by_signal())
    return {ErrorKind::protocol_error,
            "exited with status " + std::to_string(end.status->value) +
                " before it had sent all results; a submission returns from its entry function"};
  if (end.status->value == SIGKILL)
    return {ErrorKind::internal_error,
            "the candidate was killed from outside the sandbox (SIGKILL)"};
  const bool filtered = end.status->value == SIGSYS;
  return {ErrorKind::crash, "killed by " + signal_name(end.status->value) +
                                (filtered ? ": a system call that the sandbox forbids" : "")};
}

}  // namespace

bool lacked_cpu(const std::optional<CpuTimes>& cpu, std::int64_t wall_ms,
                std::int64_t cpu_percent) {
  const auto wall = static_cast<double>(wall_ms);
  const double cores = std::min(1.0, static_cast<double>(cpu_percent) / 100);
  return cpu && cpu->counts_all && static_cast<double>(cpu->waited_ms) > kMostWaitingShare * wall &&
         static_cast<double>(cpu->used_ms) < kLeastUsedShare * cores * wall;
}

EndError error_of(const CandidateEnd& end, const Limits& limits) {
  using Kind = CandidateEvent::Kind;
  if (end.event == Kind::cancelled) return {ErrorKind::cancelled, "cancelled"};
  if (end.out_of_memory)
    return {ErrorKind::memory_limit, "used more than " + mebibytes(limits.memory_bytes)};
  if (end.machine_out_of_memory)
    return {ErrorKind::internal_error,
            "the machine has no memory left: the kernel killed a process of the candidate, which "
            "was within its limit of " +
                mebibytes(limits.memory_bytes)};
  switch (end.event) {
    case Kind::timeout: return time_limit(end, limits);
    case Kind::flood: return {ErrorKind::output_limit, end.text};
    case Kind::malformed:
      return {ErrorKind::protocol_error, "the candidate broke the protocol: " + end.text};
    case Kind::broken:
      return {ErrorKind::internal_error, "receiving from the candidate: " + end.text};
    default: return process_end(end, limits);
  }
}

}  // namespace assay::sandbox
