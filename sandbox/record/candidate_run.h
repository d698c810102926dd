// CandidateRun talks to one candidate, the jailed process that runs a submission's host code. It
// sends the source, and then the cases in batches. If the candidate fails, CandidateRun writes the
// error into the verdict.
//
//   CandidateRun candidate(run, pool, {.request = request, .source = source});
//   if (!candidate.start()) return;  // now the source is imported, and no case was sent
//   std::optional<std::vector<CaseDone>> done = candidate.perform(inputs, true);
//   if (!done) return;  // the verdict of `run` has the error
//
// Results are complete: either there is one result for each case, in order, or there are none. An
// early exit, an incomplete message, a second result for a case, or a message after `done` is an
// error. When perform() has returned from the last batch, the candidate has ended, so its output
// files are final. After an earlier batch the candidate still lives and could write to its files,
// so copy the files before you read them.
//
// Hidden cases are sent in a batch of their own, after the public cases. Before they are sent, the
// verdict's flag Verdict::tells_hidden is set. Messages that the candidate sent before that moment
// cannot depend on hidden cases, but all later messages can. Only the supervisor sets this flag,
// and it does not rely on what the candidate reports. Use an object only on the job's thread.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sandbox/job/job_execution.h"
#include "sandbox/pool/candidate_pool.h"
#include "sandbox/record/candidate_end.h"
#include "sandbox/record/case_io.h"

namespace assay::sandbox {

struct CandidateResults {
  std::vector<CaseDone> cases;      // in the job's order
  std::vector<Artifact> artifacts;  // untrusted, because the candidate made them
};

/// The work of one candidate. The caller owns the request and the source.
struct CandidateTask {
  const CandidateJob& request;
  const std::string& source;
  std::vector<int> fds = {};  // borrowed; for a host job, the socket to the judge
  /// This function is called when the candidate has received the job and the descriptors.
  std::function<void()> sent = {};
  /// The total number of cases that the monitor reports. It is set when this candidate gets only
  /// some of the job's cases.
  std::optional<std::size_t> announced_cases = std::nullopt;
  /// The time limit of all batches together, if it is not the job's Limits::run_wall_ms.
  std::optional<std::int64_t> run_wall_ms = std::nullopt;
};

class CandidateRun {
 public:
  CandidateRun(JobExecution& run, CandidatePool& pool, const CandidateTask& task);
  /// Ends the candidate, and adds the candidate's output to the verdict.
  ~CandidateRun();
  CandidateRun(const CandidateRun&) = delete;
  CandidateRun& operator=(const CandidateRun&) = delete;

  /// Takes a candidate from the pool, sends the source, and waits until the candidate has imported
  /// it. Returns false if the verdict has become an error.
  bool start();
  /// Makes the candidate run a batch of cases, and returns one result for each case. If `last` is
  /// true, also receives the candidate's artifacts and ends the candidate. Returns nothing if the
  /// verdict has become an error.
  std::optional<std::vector<CaseDone>> perform(const CandidateInputs& batch, bool last);
  /// Returns the candidate's artifacts. Call this after the last batch.
  std::vector<Artifact> take_artifacts() { return std::move(artifacts_); }
  /// Redirects errors and output: from this call on, they go to the verdict of `run`, which is
  /// another execution of the same job.
  void report_to(JobExecution& run) { run_ = &run; }

 private:
  bool follow(const std::function<bool()>& reached);
  bool close();
  bool on(Parked& message);
  bool on(SourceParsed& message);
  bool on(Imported& message);
  bool on(CaseDone& done);
  bool on(Artifact& artifact);
  bool on(CandidateError& error);
  bool on(Done& message);
  bool ended(const CandidateEvent& event);
  std::optional<CpuTimes> processor_time() const;
  void limit_time(std::int64_t wall_ms);
  double passed_ms() const;

  JobExecution* run_;
  CandidatePool& pool_;
  const CandidateTask task_;
  std::unique_ptr<Candidate> candidate_;
  Deadline deadline_ = Deadline::never();
  std::int64_t wall_ms_ = 0;            // the time limit of the current deadline
  std::int64_t since_ns_ = 0;           // when the current deadline started
  std::optional<CpuTimes> cpu_before_;  // the candidate's processor time at that moment
  double used_ms_ = 0;                  // the part of the time limit that earlier batches used
  std::vector<std::string> expected_;   // case ids of the batch
  std::vector<CaseDone> cases_;         // results of the batch so far
  std::size_t earlier_cases_ = 0;       // number of results of earlier batches
  std::vector<Artifact> artifacts_;
  std::size_t artifact_bytes_ = 0;
  bool parsed_ = false, imported_ = false, last_ = false, done_ = false;
};

/// Returns true unless the job has a public case with this id.
bool is_hidden(const Job& job, const std::string& id);

}  // namespace assay::sandbox
