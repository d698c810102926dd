// Implements the functions of TimingSession that judge the outputs of timed samples.
#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "sandbox/judging/judging.h"
#include "sandbox/timing/timing_session.h"

namespace assay::sandbox {
namespace {

constexpr const char* kWrongWhenTimed = "right at first, wrong when it was timed";

}  // namespace

bool TimingSession::keep_outputs(std::size_t case_index, const Launched& launched) {
  CaseRecord& record = run_.verdict().cases[case_index];
  const int output = outputs_[case_index].get();
  const auto compared_now = [&] {
    return still_right(record, launched, output, kWrongWhenTimed) || !ends_checks(record);
  };
  if (output >= 0) return compared_now();
  run_.enter(Stage::recheck);
  const Result<bool> kept = parts_.judge.set_aside({run_.job().id, record.id}, launched.outputs,
                                                   run_.deadline(run_.job().limits.judge_wall_ms));
  if (!kept)
    return run_.fail_by_judge(kept.error(), "keeping a timed output of case '" + record.id + "'");
  if (!*kept) return compared_now();
  ++aside_[case_index];
  return true;
}

bool TimingSession::check_outputs(LaunchSession* session, const std::vector<std::string>& plans,
                                  const Locks& locks) {
  bool right = true;
  for (std::size_t i = 0; i < prepared_.cases.size(); ++i) {
    if (!timed_[i]) continue;
    CaseRecord& record = run_.verdict().cases[i];
    const std::string plan = session != nullptr ? plans[i] : std::string();
    if (check_case(i, session, plan, locks) && record.outcome == Outcome::pass) continue;
    if (run_.failed()) blame(record);
    if (ends_checks(record)) return false;
    right = false;
  }
  if (right) keep_for_later_jobs();
  return right;
}

/// Decides after a case was found wrong. If it is hidden, everything else is still timed and
/// checked, in this case and in the others. If the job ended here, its duration, and the number of
/// its stages, would reveal which hidden case was wrong.
bool TimingSession::ends_checks(const CaseRecord& record) const {
  return run_.failed() || !record.hidden;
}

bool TimingSession::judge_aside(std::size_t i, const Locks& locks) {
  CaseRecord& record = run_.verdict().cases[i];
  bool right = record.outcome == Outcome::pass;
  for (; aside_[i] > 0; --aside_[i]) {
    if (!locks.prepare()) return false;
    run_.enter(Stage::recheck);
    const Result<Compared> again = parts_.judge.compare_aside(
        {run_.job().id, record.id}, run_.deadline(run_.job().limits.judge_wall_ms));
    locks.release();
    right = still_right(record, again, kWrongWhenTimed) && right;
    if (!right && ends_checks(record)) return false;
  }
  return right;
}

bool TimingSession::check_case(std::size_t i, LaunchSession* session, const std::string& plan,
                               const Locks& locks) {
  CaseRecord& record = run_.verdict().cases[i];
  bool right = judge_aside(i, locks);
  if (!right && ends_checks(record)) return false;
  are_judged_[i] = right;
  right = right && has_no_kept_answers(record) && above_floor(record);
  if (!right && ends_checks(record)) return false;
  // GpuJob::launch_and_judge() has already checked the outputs of the first alternatives.
  const bool is_first = std::all_of(chosen_[i].begin(), chosen_[i].end(),
                                    [](std::int64_t index) { return index == 0; });
  if (session == nullptr || is_first) return right;
  // The references for the last inputs are computed before the GPU is shared for the launch.
  if (!locks.prepare()) return false;
  run_.enter(Stage::recheck);
  const Status computed = parts_.judge.compute_references(
      {run_.job().id, record.id}, false, run_.deadline(run_.job().limits.judge_wall_ms));
  locks.release();
  if (!computed) return run_.fail_by_judge(computed.error(), "computing references");
  const bool ranked_right = locks.share() && watch_ranked(i, *session, plan, chosen_[i]);
  locks.release();
  return ranked_right && right;
}

/// Launches the plan with the alternatives that were timed, and checks the outputs.
bool TimingSession::watch_ranked(std::size_t case_index, LaunchSession& session,
                                 const std::string& plan, const std::vector<std::int64_t>& chosen) {
  CaseRecord& record = run_.verdict().cases[case_index];
  const CasePlan ranked{prepared_, case_index, plan, outputs_[case_index].get()};
  const std::optional<Launched> launched = session.launch(ranked, {.chosen = chosen});
  return launched &&
         still_right(record, *launched, ranked.output_fd,
                     "right with the first alternatives, wrong with those that were timed",
                     has_doubtful_origin(*launched)) &&
         check_side_effects(run_, parts_.judge, session, {ranked, *launched}, record) &&
         record.outcome == Outcome::pass;
}

bool TimingSession::still_right(CaseRecord& record, const Launched& launched, int output,
                                const char* when, bool keep) {
  run_.enter(Stage::recheck);
  return still_right(
      record,
      parts_.judge.compare({run_.job().id, record.id}, {.tensors = launched.outputs, .fd = output},
                           run_.deadline(run_.job().limits.judge_wall_ms), keep),
      when);
}

bool TimingSession::still_right(CaseRecord& record, const Result<Compared>& again,
                                const char* when) {
  if (!again)
    return run_.fail_by_judge(again.error(),
                              "judging the timed output of case '" + record.id + "'");
  if (again->kind == ErrorKind::none) return true;
  record.outcome = Outcome::fail;
  // The submission may have got hidden cases by now, so this public record says only how many
  // elements are wrong.
  const std::vector<WrongOutput>& wrong = again->record.wrong;
  record.reason = std::string(when) + ": " +
                  (wrong.empty() ? again->record.reason : wrong_count_text(wrong.front()));
  record.max_abs_error = again->record.max_abs_error;
  record.mismatches = again->record.mismatches;
  record.first_mismatch = again->record.first_mismatch;
  run_.verdict().error_kind = again->kind;
  run_.verdict().outcome = Outcome::fail;
  return false;
}

}  // namespace assay::sandbox
