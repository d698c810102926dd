#include "sandbox/record/recorder.h"

#include "sandbox/record/candidate_run.h"

namespace assay::sandbox {

Status Recorder::take_place(JobExecution&) { return {}; }

std::optional<CandidateResults> LocalRecorder::record(JobExecution& run,
                                                      const RecordRequest& request) {
  if (request.cases.empty()) return record_cases(run, pool_, request);
  RecordingCache& cache =
      request.whose == RecordedSource::oracle ? caches_.oracles : caches_.submissions;
  return cache.record(run, pool_, request);
}

Result<std::vector<Artifact>> LocalRecorder::disassemble(JobExecution& run,
                                                         const std::string& target,
                                                         const std::string& plan) {
  CandidateJob request;
  request.mode = CandidateMode::disassemble;
  request.target = target;
  JobExecution auxiliary = run.auxiliary();
  CandidateRun candidate(auxiliary, pool_, {.request = request, .source = plan});
  if (!candidate.start() || !candidate.perform({}, true))
    return fail(ErrorCode::unavailable, "the disassembler failed: " + auxiliary.verdict().detail);
  return candidate.take_artifacts();
}

}  // namespace assay::sandbox
