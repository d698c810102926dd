#include "sandbox/job/job_execution.h"

#include <algorithm>
#include <cstdint>
#include <utility>

#include "base/clock.h"
#include "sandbox/job/verdict_builder.h"

namespace assay::sandbox {
namespace {

/// Returns the trouble behind an error of a judge, if the job may run again because of it.
std::optional<JudgeTrouble> trouble_of(ErrorCode code) {
  switch (code) {
    case ErrorCode::unavailable: return JudgeTrouble::ended;
    case ErrorCode::not_found: return JudgeTrouble::forgotten;
    case ErrorCode::resource_exhausted: return JudgeTrouble::no_memory;
    case ErrorCode::preempted: return JudgeTrouble::preempted;
    default: return std::nullopt;
  }
}

}  // namespace

JobExecution::JobExecution(const Job& job, JobMonitor& monitor)
    : job_(job),
      monitor_(monitor),
      verdict_(begin_verdict(job)),
      since_ns_(system_clock().monotonic_ns()) {}

void JobExecution::enter(Stage stage) {
  if (stage == stage_) return;
  close_stage();
  stage_ = stage;
  const bool tells_little = !verdict_.tells_hidden || stage >= Stage::baseline;
  if (monitor_.stage_changed && !silent_ && tells_little) monitor_.stage_changed(stage);
}

void JobExecution::case_done(std::size_t done, std::optional<std::size_t> total) {
  cases_ = total.value_or(cases_);
  if (!monitor_.case_done || silent_ || verdict_.tells_hidden) return;
  // The monitor gets only the number of public cases. The number of hidden cases stays secret.
  const auto open = std::count_if(job_.cases.begin(), job_.cases.end(),
                                  [](const CaseRequest& one) { return !one.hidden; });
  monitor_.case_done(static_cast<std::int64_t>(done),
                     std::min(static_cast<std::int64_t>(cases_), static_cast<std::int64_t>(open)));
}

void JobExecution::close_stage() {
  const std::int64_t now_ns = system_clock().monotonic_ns();
  verdict_.stage_ms[std::string(to_string(stage_))] +=
      static_cast<double>(now_ns - since_ns_) / kNsPerMs;
  since_ns_ = now_ns;
}

bool JobExecution::fail(ErrorKind kind, Stage stage, const std::string& detail) {
  end_with_error(verdict_, kind, stage, detail);
  return false;
}

void JobExecution::clear_error() {
  verdict_.outcome = Outcome::error;
  verdict_.error_kind = ErrorKind::none;
  verdict_.detail.clear();
  verdict_.diagnostic.reset();
}

bool JobExecution::fail_infrastructure(const Error& error, const std::string& doing) {
  if (error.code == ErrorCode::cancelled || monitor_.stop.stop_requested())
    return fail(ErrorKind::cancelled, "cancelled while " + doing);
  if (error.code == ErrorCode::unsupported) return fail(ErrorKind::unsupported, error.message);
  if (error.code == ErrorCode::reference)
    return fail(ErrorKind::reference_error, Stage::judge, error.message);
  return fail(ErrorKind::internal_error, doing + ": " + error.message);
}

bool JobExecution::fail_by_judge(const Error& error, const std::string& doing) {
  const std::optional<JudgeTrouble> trouble = trouble_of(error.code);
  int none = 0;
  if (trouble) trouble_->compare_exchange_strong(none, 1 + static_cast<int>(*trouble));
  const bool is_gone = trouble == JudgeTrouble::ended || trouble == JudgeTrouble::forgotten;
  if (alone_ && is_gone && !monitor_.stop.stop_requested())
    return fail(ErrorKind::reference_error, Stage::judge,
                "the cause is the operator's own code, because a judge of this job alone failed "
                "too: " +
                    doing + ": " + error.message);
  return fail_infrastructure(error, doing);
}

std::optional<JudgeTrouble> JobExecution::judge_trouble() const {
  const int noted = *trouble_;
  return noted == 0 ? std::nullopt : std::optional(static_cast<JudgeTrouble>(noted - 1));
}

void JobExecution::begin_again(bool alone, bool all_memory) {
  close_stage();
  Verdict again = begin_verdict(job_);
  again.stage_ms = std::move(verdict_.stage_ms);
  again.gpu_alone_ms = verdict_.gpu_alone_ms;
  again.launch = std::move(verdict_.launch);
  again.provenance = std::move(verdict_.provenance);
  again.tier_reason = std::move(verdict_.tier_reason);
  again.tells_hidden = verdict_.tells_hidden;
  verdict_ = std::move(again);
  *trouble_ = 0;
  alone_ = alone;
  all_memory_ = all_memory_ || all_memory;
}

JobExecution JobExecution::auxiliary() const { return auxiliary(job_); }

JobExecution JobExecution::auxiliary(const Job& job) const {
  JobExecution other(job, monitor_);
  other.silent_ = true;
  other.verdict_.tells_hidden = verdict_.tells_hidden;
  other.shortage_ = shortage_;
  other.trouble_ = trouble_;
  other.alone_ = alone_;
  other.all_memory_ = all_memory_;
  return other;
}

void JobExecution::conclude(const std::vector<std::string>& required_cases) {
  if (job_.kind == JobKind::compile && !failed())
    verdict_.summary = summarise(verdict_);
  else
    sandbox::conclude(verdict_, required_cases);
}

Verdict JobExecution::finish() {
  close_stage();
  verdict_.reports_shortage = *shortage_;
  return std::move(verdict_);
}

}  // namespace assay::sandbox
