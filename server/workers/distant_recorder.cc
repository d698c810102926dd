#include "server/workers/distant_recorder.h"

#include <algorithm>

#include "sandbox/wire/header_reader.h"

namespace assay::server {
namespace {

using sandbox::CandidateResults;
using sandbox::CaseDone;
using sandbox::Frame;
using sandbox::JobExecution;
using sandbox::RecordRequest;
using sandbox::Verdict;

/// Adds what the other worker's recording says to the verdict of the job.
void add_facts(JobExecution& run, Verdict& recorded) {
  Verdict& verdict = run.verdict();
  if (recorded.reports_shortage) run.tell_shortage();
  if (recorded.tells_hidden) run.tell_hidden();
  verdict.stdout_text += recorded.stdout_text;
  verdict.stderr_text += recorded.stderr_text;
  const sandbox::Provenance& theirs = recorded.provenance;
  sandbox::Provenance& mine = verdict.provenance;
  mine.torch = theirs.torch;
  mine.triton = theirs.triton;
  mine.python = theirs.python;
  mine.nvrtc = theirs.nvrtc;
  for (const std::string& layer : theirs.missing_layers) {
    if (std::find(mine.missing_layers.begin(), mine.missing_layers.end(), layer) ==
        mine.missing_layers.end())
      mine.missing_layers.push_back(layer);
  }
}

/// Returns the results in the order of the request. Error: corrupt if they are not its cases.
Status put_in_order(CandidateResults& results, const RecordRequest& request) {
  std::vector<CaseDone> ordered;
  for (const std::size_t i : request.cases) {
    const std::string& id = request.prepared.cases[i].id;
    const auto found = std::find_if(results.cases.begin(), results.cases.end(),
                                    [&](const CaseDone& done) { return done.id == id; });
    if (found == results.cases.end())
      return fail(ErrorCode::corrupt, "the recording has no case '" + id + "'");
    ordered.push_back(std::move(*found));
    results.cases.erase(found);
  }
  if (!results.cases.empty())
    return fail(ErrorCode::corrupt, "the recording has a case that was not asked for");
  results.cases = std::move(ordered);
  return {};
}

Result<sandbox::Stage> read_recording_stage(const Frame& frame) { return read_stage(frame); }

}  // namespace

Result<Frame> DistantRecorder::next(JobExecution& run) {
  while (true) {
    ASSAY_TRY(frame, inbox_.wait(run.deadline(sandbox::kForeverMs)));
    ASSAY_TRY(recording, read_recording(frame));
    if (recording == recording_) return std::move(frame);  // an earlier order is over
  }
}

std::optional<CandidateResults> DistantRecorder::give_up(JobExecution& run, const Error& error) {
  put_({recording_tagged(kRecordEndType, tag_, recording_)});
  if (hidden_allowed_) run.tell_hidden();
  run.fail_infrastructure(error, "recording on another worker");
  return std::nullopt;
}

/// Asks the job whether the other worker may record the hidden cases, and tells that worker.
bool DistantRecorder::asked_about_hidden(JobExecution& run, const RecordRequest& request,
                                         const CandidateResults& results) {
  run.case_done(results.cases.size(), results.cases.size());
  std::vector<CaseDone> open;
  for (const std::size_t i : request.cases) {
    const auto done =
        std::find_if(results.cases.begin(), results.cases.end(),
                     [&](const CaseDone& one) { return one.id == request.prepared.cases[i].id; });
    if (done != results.cases.end()) open.push_back(*done);
  }
  hidden_allowed_ = request.options.before_hidden && request.options.before_hidden(open);
  put_({recording_tagged(hidden_allowed_ ? kRecordHiddenType : kRecordEndType, tag_, recording_)});
  if (hidden_allowed_) run.enter(sandbox::Stage::record);
  return hidden_allowed_;
}

Status DistantRecorder::handle(JobExecution& run, const RecordRequest& request, Frame& frame,
                               CandidateResults& results) {
  const std::string type = frame.type();
  if (type == kRecordingStageType) {
    ASSAY_TRY(stage, read_recording_stage(frame));
    run.enter(stage);
  } else if (type == kRecordedCaseType) {
    ASSAY_TRY(done, read_recorded_case(frame));
    const bool is_public = !sandbox::is_hidden(run.job(), done.id);
    if (!is_public && request.options.before_hidden && !hidden_allowed_)
      return fail(ErrorCode::corrupt, "a hidden case was recorded before the public ones passed");
    results.cases.push_back(std::move(done));
  } else if (type == kRecordedArtifactType) {
    ASSAY_TRY(artifact, read_artifact(frame));
    results.artifacts.push_back(std::move(artifact));
  } else {
    return fail(ErrorCode::corrupt, "the unknown message '" + type + "' about a recording");
  }
  return {};
}

std::optional<CandidateResults> DistantRecorder::record(JobExecution& run,
                                                        const RecordRequest& request) {
  ++recording_;
  hidden_allowed_ = false;
  run.enter(sandbox::Stage::queue);  // until a worker that records begins
  Result<Message> order = record_message(tag_, recording_, request);
  if (!order) return give_up(run, order.error());
  put_(std::move(*order));
  CandidateResults results;
  bool ended_here = false;  // before_hidden() has ended the recording
  while (true) {
    Result<Frame> frame = next(run);
    if (!frame) return give_up(run, frame.error());
    if (frame->type() == kRecordedPublicType) {
      ended_here = !asked_about_hidden(run, request, results);
      continue;
    }
    if (frame->type() != kRecordedType) {
      const Status handled = handle(run, request, *frame, results);
      if (!handled) return give_up(run, handled.error());
      continue;
    }
    Result<Recorded> recorded = read_recorded(*frame);
    if (!recorded) return give_up(run, recorded.error());
    add_facts(run, recorded->verdict);
    if (ended_here) return std::nullopt;
    if (!recorded->ok) {
      run.verdict().diagnostic = std::move(recorded->verdict.diagnostic);
      run.fail(recorded->verdict.error_kind, recorded->verdict.stage, recorded->verdict.detail);
      return std::nullopt;
    }
    if (const Status complete = put_in_order(results, request); !complete)
      return give_up(run, complete.error());
    run.case_done(results.cases.size(), results.cases.size());
    return results;
  }
}

Status DistantRecorder::take_place(JobExecution& run) {
  ++recording_;
  run.enter(sandbox::Stage::queue);
  put_({recording_tagged(kPlaceType, tag_, recording_)});
  ASSAY_TRY(answer, next(run));
  return sandbox::expect_type(answer, kPlacedType);
}

Result<std::vector<sandbox::Artifact>> DistantRecorder::disassemble(JobExecution& run,
                                                                    const std::string& target,
                                                                    const std::string& plan) {
  ++recording_;
  Message order{recording_tagged(kDisassembleType, tag_, recording_), plan};
  order.header["target"] = target;
  put_(std::move(order));
  std::vector<sandbox::Artifact> listings;
  while (true) {
    Result<Frame> frame = next(run);
    if (!frame) {
      put_({recording_tagged(kRecordEndType, tag_, recording_)});
      return fail(ErrorCode::unavailable, "the disassembler failed: " + frame.error().message);
    }
    if (frame->type() == kRecordedArtifactType) {
      ASSAY_TRY(artifact, read_artifact(*frame));
      listings.push_back(std::move(artifact));
    } else if (frame->type() == kRecordedType) {
      ASSAY_TRY(recorded, read_recorded(*frame));
      if (recorded.ok) return listings;
      return fail(ErrorCode::unavailable, recorded.verdict.detail);
    }
  }
}

}  // namespace assay::server
