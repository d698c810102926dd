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
  if (text.empty() || text.size() > kMaxNameBytes)
    return fail(ErrorCode::invalid_argument,
                std::string(what) + " must have 1 to " + std::to_string(kMaxNameBytes) + " bytes");
  if (is_one_line(text)) return {};
  return fail(ErrorCode::invalid_argument,
              std::string(what) + " must be one line without control characters and tabs");
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

/// Returns the run that a call with an id got, if it is what the call asks for.
Result<tools::RunInfo> same_run(tools::RunInfo found, const tools::RunInfo& wanted) {
  const auto asked = [](const tools::RunInfo& of) {
    return std::tie(of.request.agent, of.request.model, of.request.track, of.operators);
  };
  if (asked(found) == asked(wanted)) return found;
  return fail(ErrorCode::invalid_argument,
              "the id '" + escape_line(wanted.request.call_id) +
                  "' belongs to a run with another agent, model, track or suite; name a new one");
}

}  // namespace

Status check_call_id(const std::string& id) {
  if (id.size() <= kMaxCallIdBytes) return {};
  return fail(ErrorCode::invalid_argument,
              "valid: call_id of up to " + std::to_string(kMaxCallIdBytes) + " bytes");
}

Result<tools::RunInfo> StoredRuns::start(const tools::Principal& principal,
                                         const tools::RunRequest& request) {
  ASSAY_RETURN_IF_ERROR(tools::check_scope(principal, request.track));
  if (!practice_only_.empty() && request.track != tools::Track::practice)
    return fail(ErrorCode::unavailable, "no scored run can start here: " + practice_only_);
  ASSAY_RETURN_IF_ERROR(check_name("agent", request.agent));
  ASSAY_RETURN_IF_ERROR(check_name("model", request.model));
  ASSAY_RETURN_IF_ERROR(check_call_id(request.call_id));
  ASSAY_TRY(names, resolve_suite(request.suite, catalog_));
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
  if (!request.call_id.empty()) {
    ASSAY_TRY(earlier, store_.run_of_repeat(principal.name, request.call_id, run.created_unix_ms));
    if (earlier) return same_run(std::move(*earlier), run);
  }
  if (const auto wait = wait_to_start(principal); wait.count() > 0)
    return fail(ErrorCode::resource_exhausted,
                "too many runs were started: a client may start at most " +
                    std::to_string(static_cast<std::int64_t>(starts_.limit().burst)) +
                    " at once. Use a run that you have, or try again in " +
                    std::to_string((wait.count() + 999) / 1'000) + " s");
  ASSAY_TRY(started, store_.insert_run(run, principal.name));
  return same_run(std::move(started), run);
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
