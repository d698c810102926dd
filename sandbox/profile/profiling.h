// Puts a Profile together: the roofline of the case, what the machine code shows, what was
// measured, the bound, one suggestion; and the artifacts that were asked for.
//
//   add_profile(run, pool, {.target = "cuda:90", .plan = plan, .request = &request, .peaks =
//   *peaks_of("cuda:90"), ...}); run.verdict().profile->suggestion;
//
// Works from a recording alone; times and counters make it better. Belongs to the job's thread.
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
  std::string plan = {};                // as recorded; empty: there is none
  std::vector<Artifact> assembly = {};  // of its kernels, where the compiler gave it as text (AMD)
  const CaseRequest* request = nullptr;
  double cost_bytes = 0, cost_flops = 0;
  std::vector<KernelReport> kernels = {};  // of this target, with their occupancy
  const CaseRecord* record = nullptr;      // with latencies and timeline, where the case was timed
  Peaks peaks = {};
  std::int64_t multiprocessors = 0;
  std::int64_t unaligned_row_bytes = 0;  // suggestion.h
  std::vector<KernelCounters> counters = {};
  std::map<std::string, std::string> missing = {};  // why there are no counters, say
};

/// What a recording of one case tells; its kernels come with the verdict's figures.
ProfileSubject subject_of(const std::string& target, const CaseRequest& request,
                          const PreparedCase& prepared, const CandidateResults& recorded);

/// Writes the verdict's profile. What is missing of it is named in it, and is no error.
void add_profile(JobExecution& run, CandidatePool& pool, const ProfileSubject& subject);

/// The peaks of the device that stands for a target; with `sms` and `bytes_per_s` above 0, of a
/// device of that target that is here.
Peaks peaks_of_device(const std::string& target, std::int64_t sms, double bytes_per_s);

/// How far apart the rows of a tensor are, where that is no multiple of what a thread loads at
/// most; else 0.
std::int64_t unaligned_row_bytes(const Argument& argument);

/// The target that a profile is for: the one that it names, or the device's own.
std::string profile_target(const Job& job, const std::string& own);

}  // namespace assay::sandbox
