// CandidateRun: the conversation with one candidate. It sends the source, then the cases in
// batches, and turns every way in which the candidate can end into the verdict.
//
//   CandidateRun candidate(run, pool, {.request = request, .source = source});
//   if (!candidate.start()) return;  // now the source is imported, and no case was sent
//   std::optional<std::vector<CaseDone>> done = candidate.perform(inputs, true);
//   if (!done) return;  // the verdict of `run` has the error
//
// Results are complete, with one result per case in order, or there are none: an early exit, half a
// message, a second result or a message after `done` is an error. The candidate has ended when
// perform() has returned from the last batch, so its output files are final. After an earlier batch
// it still lives and could write to its files: copy them before they are read.
//
// Hidden cases go in a batch of their own, after the public ones. perform() notes in the verdict
// that the submission has got hidden cases (Verdict::tells_hidden). What the candidate sent before
// cannot depend on them, and everything after it can. No claim of the candidate decides this.
// Belongs to the job's thread.
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
#include "sandbox/record/case_io.h"

namespace assay::sandbox {

struct CandidateResults {
  std::vector<CaseDone> cases;      // in the job's order
  std::vector<Artifact> artifacts;  // untrusted
};

/// The work of one candidate. Borrows request and source.
struct CandidateTask {
  const CandidateJob& request;
  const std::string& source;
  std::vector<int> fds = {};  // borrowed; a host job's line to the judge
  /// Called when the candidate has the job and the descriptors.
  std::function<void()> sent = {};
  /// The total that the monitor gets when this candidate handles only a part of the job's cases.
  std::optional<std::size_t> announced_cases = std::nullopt;
};

class CandidateRun {
 public:
  CandidateRun(JobExecution& run, CandidatePool& pool, const CandidateTask& task);
  /// Ends the candidate and adds what it printed to the verdict.
  ~CandidateRun();
  CandidateRun(const CandidateRun&) = delete;
  CandidateRun& operator=(const CandidateRun&) = delete;

  /// Takes a candidate from the pool, sends the source, and waits until it is imported. Returns
  /// false when the verdict has become an error.
  bool start();
  /// Has the candidate run a batch of cases, and returns one result for each. With `last` it also
  /// takes the artifacts and ends the candidate. Returns nothing when the verdict has become an
  /// error.
  std::optional<std::vector<CaseDone>> perform(const CandidateInputs& batch, bool last);
  /// The artifacts, after the last batch.
  std::vector<Artifact> take_artifacts() { return std::move(artifacts_); }
  /// From here on errors and output go to the verdict of `run`, another execution of the same job.
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
  bool process_ended(const std::optional<ExitStatus>& status, const std::string& where);
  void limit_time(std::int64_t wall_ms);
  double passed_ms() const;
  std::string processes() const;

  JobExecution* run_;
  CandidatePool& pool_;
  const CandidateTask task_;
  std::unique_ptr<Candidate> candidate_;
  Deadline deadline_ = Deadline::never();
  std::int64_t wall_ms_ = 0;           // of the current deadline
  std::int64_t since_ns_ = 0;          // when the current deadline started
  double used_ms_ = 0;                 // by earlier batches, of the limit of a run
  std::vector<std::string> expected_;  // ids of the batch's cases
  std::vector<CaseDone> cases_;        // results of the batch
  std::size_t earlier_cases_ = 0;      // number of results of earlier batches
  std::vector<Artifact> artifacts_;
  std::size_t artifact_bytes_ = 0;
  bool parsed_ = false, imported_ = false, last_ = false, done_ = false;
};

/// Returns true unless the job has a public case of this id.
bool is_hidden(const Job& job, const std::string& id);

/// Returns the limit that an exception of Python or torch reports (no memory, no room on disk, no
/// more processes), else `kind`.
ErrorKind limit_behind(ErrorKind kind, const Diagnostic& diagnostic);

/// Returns `line` if `source` has a line with this number, counted from 1, else nothing. A
/// candidate can send any number.
std::optional<std::int64_t> line_of_source(std::optional<std::int64_t> line,
                                           std::string_view source);

}  // namespace assay::sandbox
