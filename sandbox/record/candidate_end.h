// Says why a candidate ended without all of its results, from what the kernel and the supervisor
// observed. What the candidate itself reports plays no part.
//
//   const EndError error = error_of({.status = status}, run.job().limits);
//   run.fail(error.kind, error.detail);
//
// An error that counts against the submission needs evidence that the submission caused it. Without
// such evidence the error is ErrorKind::internal_error, so the job runs again and is not charged:
//   - A candidate cannot send SIGKILL to itself: it is the first process of its pid namespace, and
//     the system call filter keeps it from limiting its own processor time. So something else sent
//     the signal: an operator, or the kernel when the machine has no memory left.
//   - A process that is killed from outside closes its channel before it has ended. Only a process
//     that goes on living has closed its channel by itself.
//   - A time limit that passed while the candidate waited for a processor says that the machine is
//     overloaded. A candidate could also wait for its own processes. So this holds only if a cgroup
//     counted the time of all its processes and found little. Nor can a candidate make itself wait:
//     the system call filter keeps it from changing its priority or its set of processors.
//   - Until a candidate has parsed the source, it runs only code of Assay. Its exit says nothing
//     about the submission. (A crash does: the source can crash the parser.)
//   - A failed system call of the supervisor, and a dead zygote, say nothing about the submission.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "sandbox/job/job.h"
#include "sandbox/pool/candidate.h"

namespace assay::sandbox {

/// What was observed at the end of a candidate.
struct CandidateEnd {
  CandidateEvent::Kind event = CandidateEvent::Kind::ended;
  std::string text = {};                            // the event's text
  std::optional<ExitStatus> status = std::nullopt;  // nothing: the zygote cannot tell
  bool was_killed = false;                          // the supervisor had to kill it
  bool ran_code = true;  // the candidate had begun to run code of the submission
  bool out_of_memory = false, machine_out_of_memory = false, out_of_processes = false;
  std::optional<CpuTimes> cpu = std::nullopt;  // until the time limit passed
  std::int64_t wall_ms = 0;                    // the time limit
};

struct EndError {
  ErrorKind kind = ErrorKind::internal_error;
  std::string detail;
};

/// Returns the error of an end. `end.event` is not CandidateEvent::Kind::message. `limits` appear
/// in the texts.
EndError error_of(const CandidateEnd& end, const Limits& limits);

/// Returns true if a process spent most of its time limit waiting for a processor, although it used
/// little of the processor time that its limit `cpu_percent` leaves it. Time in which that limit
/// stops the process counts as waiting, too. Returns false if the times are not known, or do not
/// count all processes (CpuTimes::counts_all).
bool lacked_cpu(const std::optional<CpuTimes>& cpu, std::int64_t wall_ms, std::int64_t cpu_percent);

}  // namespace assay::sandbox
