// Recorder turns a submission into launch plans, wherever this is done. It is the interface between
// the half of a GPU's job that needs only processors (import, compile, record) and the half that
// needs the GPU (perform, judge, time). Launch plans are the only thing that crosses it, and the
// second half checks them like any untrusted data.
//
//   std::optional<CandidateResults> results = recorder.record(run, {prepared, all_cases(prepared),
//                                                                   target, job.source});
//   if (!results) return;  // the verdict of `run` has the error
//
// LocalRecorder records in candidates of this machine. A worker that only launches has no
// candidates for submissions: JobMonitor::recorder then records on another machine.
//
// Call the functions only on the job's thread.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "sandbox/record/record_cases.h"
#include "sandbox/record/recording_cache.h"

namespace assay::sandbox {

class Recorder {
 public:
  virtual ~Recorder() = default;

  /// Returns a launch plan and the kernels' resources for each case of the request, in the
  /// request's order. If the request has no cases, the source is only imported. Returns nothing if
  /// the verdict has become an error, or if `before_hidden` has ended the recording.
  virtual std::optional<CandidateResults> record(JobExecution& run,
                                                 const RecordRequest& request) = 0;

  /// Waits until the job has its place where it is recorded. The job keeps the place to its end. A
  /// job that has its place does not wait, and on this machine no job needs one. Errors: cancelled;
  /// unavailable if another machine records and was lost; corrupt if its answer is another message.
  virtual Status take_place(JobExecution& run);

  /// Returns one listing for each binary of the plan, in the plan's order. There are at most 16
  /// listings (sandbox/harness/recording/disassemble.py). A listing is an artifact of kind "sass"
  /// with the kernel's name. The binaries are untrusted, and so is the output of a disassembler
  /// that reads them. So the disassembler runs inside the jail, in a new candidate that never sees
  /// the submission. The job's verdict is not changed. Errors: unavailable if the binaries cannot
  /// be disassembled, and the message says why.
  virtual Result<std::vector<Artifact>> disassemble(JobExecution& run, const std::string& target,
                                                    const std::string& plan) = 0;
};

/// Records in candidates of a pool. Thread-safe.
class LocalRecorder final : public Recorder {
 public:
  /// The caches keep the recordings of submissions and of oracles. They have their own caches, so
  /// that recordings of submissions do not displace those of oracles.
  struct Caches {
    RecordingCache& submissions;
    RecordingCache& oracles;
  };

  LocalRecorder(CandidatePool& pool, Caches caches) : pool_(pool), caches_(caches) {}

  std::optional<CandidateResults> record(JobExecution& run, const RecordRequest& request) override;
  Result<std::vector<Artifact>> disassemble(JobExecution& run, const std::string& target,
                                            const std::string& plan) override;

 private:
  CandidatePool& pool_;
  const Caches caches_;
};

}  // namespace assay::sandbox
