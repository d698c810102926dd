// Builds a Profile: the roofline of the case, counts of the machine code, measurements, the bound,
// one suggestion, and the artifacts that the job requests.
//
//   ProfileSubject subject = subject_of("cuda:90", request, prepared, recorded);
//   subject.kernels = run.verdict().kernels;
//   add_profile(run, recorder, subject);
//   std::string advice = run.verdict().profile->suggestion;
//
// A recording is enough for a profile. Times and counters make the profile more exact. Only the
// job's thread may call the functions that take a JobExecution or a recording.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "sandbox/job/job_execution.h"
#include "sandbox/pool/judge.h"
#include "sandbox/profile/targets.h"
#include "sandbox/record/candidate_run.h"
#include "sandbox/record/recorder.h"

namespace assay::sandbox {

struct ProfileSubject {
  std::string target;
  std::string plan = {};  // the recorded plan; empty if the case has no plan
  // The kernels' assembly, if the compiler produces it as text (AMD).
  std::vector<Artifact> assembly = {};
  const CaseRequest* request = nullptr;
  double cost_bytes = 0, cost_flops = 0;
  std::vector<KernelReport> kernels = {};  // for this target, with their occupancy
  // The case's record, with latencies and timeline. It is null if the case was not timed.
  const CaseRecord* record = nullptr;
  Peaks peaks = {};
  std::int64_t multiprocessors = 0;
  std::int64_t unaligned_row_bytes = 0;  // as in Circumstances (diagnosis.h)
  std::vector<KernelCounters> counters = {};
  std::map<std::string, std::string> missing = {};  // requested part -> reason why it is missing
};

/// Returns the subject of a profile for a recording of one case. The subject's list of kernels is
/// empty: the caller takes the kernels from the verdict.
ProfileSubject subject_of(const std::string& target, const CaseRequest& request,
                          const PreparedCase& prepared, const CandidateResults& recorded);

/// Writes the profile into the verdict. The profile names each part that is missing. A missing part
/// is not an error.
void add_profile(JobExecution& run, Recorder& recorder, const ProfileSubject& subject);

/// Returns the distance between two rows of a tensor in bytes if this distance is not a multiple of
/// the width of a thread's widest load. Otherwise returns 0.
std::int64_t unaligned_row_bytes(const Argument& argument);

/// Returns the target of a profile job: the first target that the job names, or `own` if it names
/// none.
std::string profile_target(const Job& job, const std::string& own);

}  // namespace assay::sandbox
