#include "server/runs/run_service.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <set>
#include <tuple>
#include <utility>

#include "base/handle.h"
#include "base/log.h"
#include "base/result.h"
#include "base/text.h"
#include "metrics/summary.h"
#include "tools/model/public_verdict.h"
#include "tools/model/tracks.h"

namespace assay::server {
namespace {

constexpr std::size_t kMaxNameBytes = 200;
constexpr std::size_t kMaxCallIdBytes = 800;  // 200 characters of UTF-8, as a key of /v1/evaluate
// The maximum number of tokens that an agent may report at once. With this limit, the sum over many
// reports does not overflow.
constexpr std::int64_t kMaxTokens = 1LL << 50;
constexpr double kMaxCostUsd = 1e9;

Status check_name(const char* what, const std::string& text) {
  if (!text.empty() && text.size() <= kMaxNameBytes) return {};
  return fail(ErrorCode::invalid_argument,
              std::string(what) + " must have 1 to " + std::to_string(kMaxNameBytes) + " bytes");
}

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

using operators::Catalog;
using operators::Split;

constexpr std::size_t kMaxSuiteBytes = 16'384;
constexpr std::size_t kMaxNamedUnknowns = 3;

std::vector<std::string> split_list(const std::string& text) {
  std::vector<std::string> names;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find(',', begin), text.size());
    const auto first = text.find_first_not_of(" \t\n", begin);
    if (first < end)
      names.push_back(text.substr(first, text.find_last_not_of(" \t\n", end - 1) - first + 1));
    begin = end + 1;
  }
  return names;
}

Status check_call_id(const std::string& id) {
  if (id.size() <= kMaxCallIdBytes) return {};
  return fail(ErrorCode::invalid_argument,
              "valid: call_id of up to " + std::to_string(kMaxCallIdBytes) + " bytes");
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

Result<tools::RunInfo> StoredRuns::start(const tools::Principal& principal,
                                         const tools::RunRequest& request) {
  ASSAY_RETURN_IF_ERROR(tools::check_scope(principal, request.track));
  if (!practice_only_.empty() && request.track != tools::Track::practice)
    return fail(ErrorCode::unavailable, "no scored run can start here: " + practice_only_);
  ASSAY_RETURN_IF_ERROR(check_name("agent", request.agent));
  ASSAY_RETURN_IF_ERROR(check_name("model", request.model));
  ASSAY_RETURN_IF_ERROR(check_call_id(request.call_id));
  ASSAY_TRY(names, resolve_suite(request.suite, catalog_));
  if (const auto wait = wait_to_start(principal); wait.count() > 0)
    return fail(ErrorCode::resource_exhausted,
                "too many runs were started: a client may start at most " +
                    std::to_string(static_cast<std::int64_t>(starts_.limit().burst)) +
                    " at once. Use a run that you have, or try again in " +
                    std::to_string((wait.count() + 999) / 1'000) + " s");
  tools::RunInfo run;
  run.handle = new_handle("run");
  run.request = request;
  run.request.agent = escape_text(request.agent);
  run.request.model = escape_text(request.model);
  run.budgets = tools::rules_of(request.track).budgets;
  run.operators = std::move(names);
  run.suite_id = catalog_.suite();
  run.created_unix_ms = clock_.unix_ms();
  run.expires_unix_ms = run.created_unix_ms + run.budgets.run_wall_s * 1000;
  ASSAY_TRY(started, store_.insert_run(run, principal.name));
  const auto asked = [](const tools::RunInfo& of) {
    return std::tie(of.request.agent, of.request.model, of.request.track, of.operators);
  };
  if (asked(started) != asked(run))
    return fail(ErrorCode::invalid_argument,
                "the id '" + escape_text(request.call_id) +
                    "' belongs to a run with another agent, model, track or suite; name a new one");
  return std::move(started);
}

std::chrono::milliseconds StoredRuns::wait_to_start(const tools::Principal& principal) {
  if (principal.name.empty()) return std::chrono::milliseconds(0);
  return starts_.take(principal.name);
}

Result<tools::RunInfo> StoredRuns::find(const tools::Principal& principal, const std::string& run) {
  return find_of(principal.name, run);
}

Result<tools::RunInfo> StoredRuns::find_of(const std::optional<std::string>& owner,
                                           const std::string& run) {
  if (!is_handle(run, "run"))
    return fail(ErrorCode::invalid_argument,
                "not a run handle; `start_run` returns a handle that looks like run_...");
  Result<tools::RunInfo> found = store_.run(run, owner);
  if (found || practice_only_.empty() || found.error().code != ErrorCode::not_found) return found;
  return fail(ErrorCode::not_found, found.error().message + "; " + practice_only_);
}

Status StoredRuns::check_scope_of(const tools::Principal& principal, const std::string& run) {
  ASSAY_TRY(info, find_of(std::nullopt, run));
  return tools::check_scope(principal, info.request.track);
}

Status StoredRuns::not_over(const tools::RunInfo& run) {
  const std::int64_t end =
      std::min(run.expires_unix_ms, run.created_unix_ms + run.budgets.run_wall_s * 1000);
  if (const std::int64_t now = clock_.unix_ms(); now >= end) {
    // The record matters only if the clock is set back later, so the call ends in the same way if
    // the store cannot keep the record.
    if (const Status kept = store_.end_run(run.handle, now); !kept)
      log::warning("the end of a run was not stored",
                   {{"run", run.handle}, {"error", kept.error().message}});
  } else {
    ASSAY_TRY(ended, store_.has_ended(run.handle));
    if (!ended) return {};
  }
  return fail(ErrorCode::permission_denied,
              "this run is over: its " + std::to_string((end - run.created_unix_ms) / 1000) +
                  " s have passed. `scorecard` still shows it; `start_run` begins another");
}

Result<std::string> StoredRuns::accept(const tools::Principal& principal, const sandbox::Job& job,
                                       const std::string& device) {
  return std::move(accept_all(principal, {{&job, device}}).front());
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
                  "the id '" + escape_text(offered.call_id) +
                      "' belongs to another call of this run, with another tool, operator or "
                      "source; name a new one");
    case Acceptance::Refusal::other_class:
      return fail(ErrorCode::permission_denied, of_another_class(stored, offered));
    case Acceptance::Refusal::budget: break;
  }
  return fail(ErrorCode::permission_denied,
              over_budget(run, job.operator_name, job.kind, stored.used, offered.charge.limit));
}

Result<tools::CallsLeft> StoredRuns::calls_left(const tools::Principal& principal,
                                                const std::string& run,
                                                const std::string& operator_name,
                                                sandbox::JobKind kind) {
  ASSAY_TRY(info, find(principal, run));
  ASSAY_TRY(used, store_.calls_by_kind(run, operator_name));
  const auto left = [&](sandbox::JobKind of) {
    const std::int64_t limit = limit_of(info.budgets, of);
    const auto count = used.find(std::string(sandbox::to_string(of)));
    return limit < 0 ? limit
                     : std::max<std::int64_t>(limit - (count == used.end() ? 0 : count->second), 0);
  };
  return tools::CallsLeft{.limit = limit_of(info.budgets, kind),
                          .left = left(kind),
                          .submissions = left(sandbox::JobKind::grade)};
}

Status StoredRuns::report_usage(const tools::Principal& principal, const std::string& run,
                                const tools::Usage& usage) {
  const bool sane = usage.input_tokens >= 0 && usage.input_tokens <= kMaxTokens &&
                    usage.output_tokens >= 0 && usage.output_tokens <= kMaxTokens &&
                    std::isfinite(usage.cost_usd) && usage.cost_usd >= 0 &&
                    usage.cost_usd <= kMaxCostUsd;
  if (!sane)
    return fail(ErrorCode::invalid_argument,
                "valid: input_tokens and output_tokens from 0 to " + std::to_string(kMaxTokens) +
                    ", cost_usd from 0 to " + std::to_string(std::llround(kMaxCostUsd)));
  ASSAY_RETURN_IF_ERROR(check_call_id(usage.call_id));
  ASSAY_TRY(info, find(principal, run));
  ASSAY_RETURN_IF_ERROR(tools::check_scope(principal, info.request.track));
  ASSAY_RETURN_IF_ERROR(not_over(info));
  return store_.add_usage(run, usage, clock_.unix_ms());
}

Result<tools::Scorecard> StoredRuns::scorecard(const tools::Principal& principal,
                                               const std::string& run) {
  ASSAY_TRY(info, find(principal, run));
  return card_of(std::move(info));
}

Result<tools::Scorecard> StoredRuns::scorecard_for_operator(const std::string& run) {
  ASSAY_TRY(info, find_of(std::nullopt, run));
  return card_of(std::move(info));
}

Result<tools::Scorecard> StoredRuns::card_of(tools::RunInfo info) {
  ASSAY_TRY(usage, store_.usage(info.handle));
  ASSAY_TRY(calls, store_.tool_calls(info.handle));
  ASSAY_TRY(graded, store_.graded(info.handle));

  tools::Scorecard card;
  card.run = std::move(info);
  card.usage = usage;
  std::vector<metrics::OperatorSamples> suite;
  for (const std::string& name : card.run.operators) {
    tools::OperatorScore score;
    score.operator_name = name;
    // `op` is null if the operator was removed from the catalog after the run.
    const operators::Operator* op = catalog_.find(name);
    score.split = op == nullptr ? "" : std::string(operators::to_string(op->split));
    score.tool_calls = calls[name];
    // Only the newest submission of an operator counts. A track with a budget of submissions allows
    // one submission for each operator. A second submission exists only if the first one ended with
    // an infrastructure error, because then its charge was refunded.
    for (GradedJob& job : graded) {
      if (job.operator_name != name) continue;
      score.submitted = true;
      score.job = job.job;
      score.verdict = job.verdict;
    }
    const bool passed = score.verdict && score.verdict->outcome == sandbox::Outcome::pass;
    card.submitted += score.submitted ? 1 : 0;
    card.passed += passed ? 1 : 0;
    metrics::Sample sample;
    sample.right = passed;
    if (passed) sample.perf = tools::shown_perf(score.verdict->perf);
    suite.push_back({name, score.split, "", 0, {sample}, tools::baseline_of(score, op)});
    card.operators.push_back(std::move(score));
  }
  const auto count = static_cast<double>(card.operators.size());
  if (count > 0) card.pass_at_1 = static_cast<double>(card.passed) / count;
  card.baseline = metrics::common_baseline(suite);
  card.perf_at_1 = metrics::perf_at_1(suite);
  return card;
}

std::int64_t limit_of(const tools::Budgets& budgets, sandbox::JobKind kind) {
  switch (kind) {
    case sandbox::JobKind::compile: return budgets.compiles;
    case sandbox::JobKind::test: return budgets.tests;
    case sandbox::JobKind::profile: return budgets.profiles;
    case sandbox::JobKind::grade: return budgets.submissions;
  }
  return 0;
}

Result<std::vector<std::string>> resolve_suite(const std::string& suite, const Catalog& catalog) {
  const std::string valid =
      "a suite is \"all\", a split (standard, ood, dsl) or a comma-separated list of operators";
  if (suite.size() > kMaxSuiteBytes)
    return fail(ErrorCode::invalid_argument,
                "the suite is longer than " + std::to_string(kMaxSuiteBytes) + " bytes; " + valid);
  std::set<std::string> wanted;
  std::string unknown;
  std::size_t unknown_count = 0;
  for (const std::string& name : split_list(suite)) {
    bool known = catalog.find(name) != nullptr;
    if (known) wanted.insert(name);
    for (const auto& op : catalog.all()) {
      if (name != "all" && name != operators::to_string(op.split)) continue;
      wanted.insert(op.name);
      known = true;
    }
    for (const Split split : operators::kSplits)
      known = known || name == operators::to_string(split);
    if (known) continue;
    if (++unknown_count <= kMaxNamedUnknowns)
      unknown += (unknown.empty() ? "" : "; ") + catalog.unknown(name).message;
  }
  if (unknown_count > kMaxNamedUnknowns)
    unknown += "; and " + std::to_string(unknown_count - kMaxNamedUnknowns) + " more unknown names";
  if (unknown_count > 0) return fail(ErrorCode::not_found, unknown + "; " + valid);
  if (wanted.empty())
    return fail(ErrorCode::invalid_argument, "suite '" + suite + "' names no operator; " + valid);
  std::vector<std::string> names;
  for (const auto& op : catalog.all()) {
    if (wanted.count(op.name) > 0) names.push_back(op.name);
  }
  return names;
}

}  // namespace assay::server
