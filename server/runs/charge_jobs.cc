// Implements the part of StoredRuns that charges jobs: StoredRuns::accept() and the functions that
// it needs.
#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/text.h"
#include "server/runs/run_service.h"
#include "tools/model/tracks.h"

namespace assay::server {
namespace {

/// Returns the message for a call that the budget does not allow. The message contains the rule and
/// the counts for this tool. It does not contain the budgets of other tools, because these would
/// need further queries of the store.
std::string over_budget(const tools::RunInfo& run, const std::string& operator_name,
                        sandbox::JobKind kind, std::int64_t used, std::int64_t limit) {
  const std::string tool(tools::tool_of(kind));
  std::string text = "the " + std::string(tools::to_string(run.request.track)) + " track allows " +
                     std::to_string(limit) + " " + tool + " per operator; " + operator_name +
                     " has used " + std::to_string(used) + ", 0 are left";
  if (kind == sandbox::JobKind::grade)
    return text + ". Go on with the next operator, or see `scorecard`";
  return text + ". `submit` what you have, or leave out `run` (unscored practice)";
}

Status no_space(bool scored) {
  return fail(ErrorCode::resource_exhausted,
              scored ? "your scored runs fill the space that this server gives a client for them "
                       "(option --scored-bytes). Practice is still possible: leave out `run`"
                     : "your unfinished jobs fill the space that this server gives a client for "
                       "practice (option --practice-bytes); wait until some have ended");
}

std::string of_another_class(const Acceptance& stored, const OfferedJob& offered) {
  const std::string& graded_on = stored.graded_on;
  const std::vector<std::string>& alike = offered.comparable->names;
  // This device, or one of its class, graded the run when it had another GPU.
  if (std::find(alike.begin(), alike.end(), graded_on) != alike.end())
    return "device '" + graded_on + "' graded this run when its GPU was " + stored.graded_gpu +
           ", and it is " + offered.comparable->gpu +
           " now. Their grades cannot be compared; `start_run` begins another run";
  const std::vector<std::string>& served = offered.comparable->others;
  const bool is_served = std::find(served.begin(), served.end(), graded_on) != served.end();
  return "device '" + graded_on + "' graded this run, and grades of device '" + offered.device +
         "' cannot be compared with its grades. " +
         (is_served ? "Use device '" + graded_on + "'"
                    : std::string("This server has no such device now")) +
         "; or `start_run` begins another run";
}

}  // namespace

Result<std::string> StoredRuns::accept(const tools::Principal& principal, const sandbox::Job& job,
                                       const std::string& device) {
  return std::move(accept_all(principal, {{&job, device}}).front());
}

Result<std::string> StoredRuns::job_of_repeat(const tools::Principal& principal,
                                              const sandbox::Job& job, const std::string& call_id) {
  if (call_id.empty() || job.run.empty() || !find(principal, job.run)) return std::string();
  return store_.job_of_repeat({.job = &job, .device = "", .call_id = call_id});
}

std::vector<Result<std::string>> StoredRuns::accept_all(const tools::Principal& principal,
                                                        std::vector<OfferedJob> jobs) {
  std::vector<Result<std::string>> answers(jobs.size());
  std::vector<tools::RunInfo> runs(jobs.size());
  std::vector<OfferedJob> offered;
  std::vector<std::size_t> indices;
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    if (!jobs[i].job->run.empty()) {
      const Status named = check_call_id(jobs[i].call_id);
      Result<tools::RunInfo> run = named ? charged_run(principal, *jobs[i].job)
                                         : Result<tools::RunInfo>(fail(named.error()));
      if (!run) {
        answers[i] = fail(run.error());
        continue;
      }
      runs[i] = std::move(*run);
      jobs[i].charge = {.limit = limit_of(runs[i].budgets, jobs[i].job->kind),
                        .locks_source = tools::rules_of(runs[i].request.track).locks_source};
    }
    offered.push_back(jobs[i]);
    indices.push_back(i);
  }
  if (offered.empty()) return answers;
  const auto stored = store_.accept_all(offered, clock_.unix_ms());
  for (std::size_t n = 0; n < indices.size(); ++n) {
    const std::size_t i = indices[n];
    if (!stored) {
      answers[i] = fail(stored.error());
      continue;
    }
    const std::string& repeated = (*stored)[n].repeated;
    answers[i] = repeated.empty() ? jobs[i].job->id : repeated;
    if (const Status allowed = error_of((*stored)[n], runs[i], jobs[i]); !allowed)
      answers[i] = fail(allowed.error());
  }
  return answers;
}

Result<tools::RunInfo> StoredRuns::charged_run(const tools::Principal& principal,
                                               const sandbox::Job& job) {
  ASSAY_TRY(run, find(principal, job.run));
  ASSAY_RETURN_IF_ERROR(tools::check_scope(principal, run.request.track));
  ASSAY_RETURN_IF_ERROR(not_over(run));
  if (std::find(run.operators.begin(), run.operators.end(), job.operator_name) ==
      run.operators.end()) {
    return fail(ErrorCode::permission_denied,
                job.operator_name + " is not in this run's suite ('" + run.request.suite + "', " +
                    std::to_string(run.operators.size()) + " operators); `scorecard` lists them");
  }
  return std::move(run);
}

Status StoredRuns::error_of(const Acceptance& stored, const tools::RunInfo& run,
                            const OfferedJob& offered) {
  const sandbox::Job& job = *offered.job;
  switch (stored.refusal) {
    case Acceptance::Refusal::none: return {};
    case Acceptance::Refusal::no_space:
      return no_space(!job.run.empty() && run.request.track != tools::Track::practice);
    case Acceptance::Refusal::refunds:
      return fail(ErrorCode::permission_denied,
                  "this run takes no more calls for " + job.operator_name +
                      ": too many of them ended by errors or restarts of the server, which are not "
                      "charged. The server's log has the errors. `start_run` begins another run");
    case Acceptance::Refusal::locked:
      return fail(ErrorCode::permission_denied,
                  "the one_shot track takes one source per operator, and " + job.operator_name +
                      " already has another (SHA-256 " + stored.locked_to.substr(0, 12) +
                      "...); send exactly that source, or leave out `run` (unscored practice)");
    case Acceptance::Refusal::reused:
      return fail(ErrorCode::invalid_argument,
                  "the id '" + escape_line(offered.call_id) +
                      "' belongs to another call of this run, with another tool, operator or "
                      "source; name a new one");
    case Acceptance::Refusal::other_class:
      return fail(ErrorCode::permission_denied, of_another_class(stored, offered));
    case Acceptance::Refusal::budget: break;
  }
  return fail(ErrorCode::permission_denied,
              over_budget(run, job.operator_name, job.kind, stored.used, offered.charge.limit));
}

}  // namespace assay::server
