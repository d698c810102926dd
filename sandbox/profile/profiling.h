// Puts a Profile together: the roofline of the case, figures of the machine code, measurements, the
// bound, one suggestion, and the artifacts that the job wants.
//
//   ProfileSubject subject = subject_of("cuda:90", request, prepared, recorded);
//   subject.kernels = run.verdict().kernels;
//   add_profile(run, pool, subject);
//   std::string advice = run.verdict().profile->suggestion;
//
// A recording is enough for a profile; times and counters make it more exact. Belongs to the job's
// thread.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "sandbox/job/job_execution.h"
#include "sandbox/pool/candidate_pool.h"
#include "sandbox/pool/judge.h"
#include "sandbox/profile/targets.h"
#include "sandbox/record/candidate_run.h"

namespace assay::sandbox {

struct ProfileSubject {
  std::string target;
  std::string plan = {};                // as recorded; empty when the case has none
  std::vector<Artifact> assembly = {};  // of the kernels, where the compiler writes text (AMD)
  const CaseRequest* request = nullptr;
  double cost_bytes = 0, cost_flops = 0;
  std::vector<KernelReport> kernels = {};  // for this target, with their occupancy
  const CaseRecord* record = nullptr;      // with latencies and timeline; null when not timed
  Peaks peaks = {};
  std::int64_t multiprocessors = 0;
  std::int64_t unaligned_row_bytes = 0;  // as in Circumstances (diagnosis.h)
  std::vector<KernelCounters> counters = {};
  std::map<std::string, std::string> missing = {};  // part -> the reason why it is missing
};

/// Returns the subject of a recording of one case. It has no kernels: they are in the verdict.
ProfileSubject subject_of(const std::string& target, const CaseRequest& request,
                          const PreparedCase& prepared, const CandidateResults& recorded);

/// Writes the verdict's profile. The profile names each missing part; a missing part is no error.
void add_profile(JobExecution& run, CandidatePool& pool, const ProfileSubject& subject);

/// Returns the peaks of the target. With `sms` and `bytes_per_s` above 0 they are those of the
/// present device with so many multiprocessors and that memory bandwidth.
Peaks peaks_of_device(const std::string& target, std::int64_t sms, double bytes_per_s);

/// Returns the distance of a tensor's rows if it is not a multiple of a thread's widest load;
/// else 0.
std::int64_t unaligned_row_bytes(const Argument& argument);

/// Returns the target of a profile job: the one that it names, else the device's own.
std::string profile_target(const Job& job, const std::string& own);

}  // namespace assay::sandbox
