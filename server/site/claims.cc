#include "server/site/claims.h"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "base/handle.h"
#include "server/store/store.h"
#include "tools/model/operator_job.h"
#include "tools/model/public_verdict.h"

namespace assay::site {
namespace {

using sandbox::ErrorKind;
using sandbox::Outcome;
using sandbox::Verdict;

/// The errors that a right submission does not have on any machine: wrong answers, and what a
/// sanitizer or a canary has seen. A time limit or a missing feature of the machine is not among
/// them.
constexpr std::array kWrongAnywhere = {
    ErrorKind::syntax_error,     ErrorKind::indentation_error, ErrorKind::missing_entry,
    ErrorKind::output_mismatch,  ErrorKind::wrong_result,      ErrorKind::hidden_case,
    ErrorKind::canary_violation, ErrorKind::memory_error,      ErrorKind::race,
    ErrorKind::unattributed};

bool is_wrong_anywhere(const Verdict& verdict) {
  return verdict.outcome == Outcome::fail || std::find(kWrongAnywhere.begin(), kWrongAnywhere.end(),
                                                       verdict.error_kind) != kWrongAnywhere.end();
}

/// Returns true if the judgement says nothing about the submission.
bool is_undecided(const Verdict& here) {
  return here.outcome != Outcome::pass && !is_wrong_anywhere(here);
}

std::string device_of(const Verdict& verdict) {
  const sandbox::Provenance& provenance = verdict.provenance;
  return provenance.device_name.empty() ? provenance.device : provenance.device_name;
}

Check check_perf(const Verdict& claimed, const Verdict& here) {
  const std::optional<double> wanted = tools::shown_perf(claimed.perf);
  if (!wanted) return {CheckState::verified};
  const std::optional<double> found = tools::shown_perf(here.perf);
  if (!found || device_of(claimed) != device_of(here))
    return {CheckState::claimed, "Judged right here, on " + device_of(here) +
                                     ". Its Perf was not timed on the claimed device."};
  if (*found >= kPerfPart * *wanted) return {CheckState::verified};
  return {CheckState::disputed, "Its Perf here is " + std::to_string(*found) + "."};
}

/// Returns a job that replays the launch plans which calls of the run recorded from the claimed
/// source for this target, or nothing if there are none. A bundle has plans of public cases.
std::optional<sandbox::Job> replay_of(const bundle::RunBundle& bundle,
                                      const bundle::BundledJob& claimed,
                                      const operators::Operator& op, const std::string& target,
                                      const sandbox::Limits& limits) {
  sandbox::Job job = tools::operator_job(op, sandbox::JobKind::test, "");
  std::vector<sandbox::CaseRequest> replayed;
  for (const sandbox::CaseRequest& one : job.cases) {
    for (const bundle::BundledJob& call : bundle.jobs) {
      if (call.operator_name != claimed.operator_name || call.source != claimed.source) continue;
      const auto plan = call.plans.find(one.id + " " + target);
      if (plan != call.plans.end() && !job.plans.contains(one.id))
        job.plans.emplace(one.id, plan->second);
    }
    if (job.plans.contains(one.id)) replayed.push_back(one);
  }
  if (replayed.empty()) return std::nullopt;
  job.cases = std::move(replayed);
  job.id = new_handle("job");
  job.limits = limits;
  return job;
}

/// Replays the plans of a claimed submission whose source could not be judged, if there are some
/// for this device. Nothing proves that a plan is of the source, so a right replay verifies
/// nothing.
void replay_plans(const bundle::RunBundle& bundle, const bundle::BundledJob& claimed,
                  const operators::Operator& op, sandbox::Device& device,
                  const sandbox::Limits& limits, Check& check) {
  const auto job = replay_of(bundle, claimed, op, device.info().default_target, limits);
  if (!job) return;
  sandbox::JobMonitor monitor;
  check = with_replay(check, claimed.verdict, device.execute(*job, monitor), job->cases.size());
}

/// Returns the job that judges a claimed submission, or why it cannot be judged.
tl::expected<sandbox::Job, std::string> job_of(const bundle::BundledJob& claimed,
                                               const operators::Catalog& catalog,
                                               const sandbox::Limits& limits) {
  const operators::Operator* op = catalog.find(claimed.operator_name);
  if (op == nullptr) return tl::unexpected<std::string>("The operator is not known here.");
  sandbox::Job job = tools::operator_job(*op, sandbox::JobKind::grade, claimed.source);
  if (!tools::choose_language(job, claimed.language))
    return tl::unexpected<std::string>("The operator does not allow this language.");
  job.id = new_handle("job");
  job.limits = limits;
  return job;
}

}  // namespace

std::string_view to_string(CheckState state) {
  switch (state) {
    case CheckState::own: return "own";
    case CheckState::imported: return "imported";
    case CheckState::claimed: return "claimed";
    case CheckState::verified: return "verified";
    case CheckState::disputed: break;
  }
  return "disputed";
}

Check check_claim(const Verdict& claimed, const Verdict& here) {
  const bool claims_pass = claimed.outcome == Outcome::pass;
  // The note is published, and a submission could choose its error by what it sees of hidden cases.
  const std::string kind(to_string(tools::public_verdict(here, nullptr).verdict().error_kind));
  if (here.outcome == Outcome::pass && here.tier == sandbox::Tier::none)
    return {CheckState::claimed, "The device here judges nothing."};
  if (here.outcome == Outcome::pass)
    return claims_pass ? check_perf(claimed, here)
                       : Check{CheckState::disputed, "Judged right here."};
  if (!is_undecided(here)) {
    if (!claims_pass) return {CheckState::verified};
    return {CheckState::disputed, "Judged here: " + kind + "."};
  }
  return {CheckState::claimed,
          "The judgement here ended with " + kind + ", which decides nothing."};
}

Check with_replay(const Check& check, const Verdict& claimed, const Verdict& replayed,
                  std::size_t cases) {
  const std::string count = std::to_string(cases) + (cases == 1 ? " public case" : " public cases");
  if (replayed.outcome == Outcome::pass && replayed.tier == sandbox::Tier::plan)
    return {check.state,
            check.note + " Its launch plans of " + count + " give right results here."};
  if (claimed.outcome != Outcome::pass || !is_wrong_anywhere(replayed)) return check;
  return {CheckState::disputed, "Its launch plans of " + count + " were replayed here: " +
                                    std::string(to_string(replayed.error_kind)) + "."};
}

Status write_claimed_store(const bundle::RunBundle& bundle, const std::filesystem::path& store,
                           const std::map<std::string, Verdict>& verdicts) {
  ASSAY_TRY(opened, server::Store::open(store, server::StoreMode::read_write));
  ASSAY_RETURN_IF_ERROR(opened->insert_run(bundle.run, ""));
  const tools::Usage& usage = bundle.usage;
  if (usage.cost_known || usage.input_tokens + usage.output_tokens > 0 || usage.cost_usd > 0)
    ASSAY_RETURN_IF_ERROR(opened->add_usage(bundle.run.handle, usage, bundle.run.created_unix_ms));
  for (const bundle::BundledJob& claimed : bundle.jobs) {
    sandbox::Job job;
    job.id = claimed.job;
    job.run = bundle.run.handle;
    job.kind = claimed.kind;
    job.operator_name = claimed.operator_name;
    job.language = claimed.language;
    job.source = claimed.source;
    ASSAY_TRY(accepted, opened->accept(job, claimed.device, {}, claimed.queued_unix_ms));
    if (!accepted.accepted())
      return fail(ErrorCode::resource_exhausted, "the bundle's job " + job.id + " has no room");
    const auto here = verdicts.find(claimed.job);
    const Verdict& verdict = here == verdicts.end() ? claimed.verdict : here->second;
    ASSAY_TRY(stored,
              opened->finish(job.id, claimed.state, verdict, false, claimed.finished_unix_ms));
    static_cast<void>(stored);
  }
  for (const auto& [name, transcript] : bundle.transcripts)
    ASSAY_RETURN_IF_ERROR(opened->put_transcript(bundle.run.handle, name,
                                                 transcripts::transcript_text(transcript),
                                                 bundle.run.created_unix_ms));
  return {};
}

JudgedClaims judge_claims(const bundle::RunBundle& bundle, const operators::Catalog& catalog,
                          sandbox::Device& device, const sandbox::Limits& limits,
                          const ClaimJudged& judged) {
  JudgedClaims claims;
  const bool same_suite = catalog.suite().digest == bundle.run.suite_id.digest;
  for (const bundle::BundledJob& claimed : bundle.jobs) {
    if (claimed.kind != sandbox::JobKind::grade) continue;
    Check check;
    if (!same_suite) {
      check.note = "The suite of the run, with its digest, is not here.";
    } else if (const auto job = job_of(claimed, catalog, limits)) {
      sandbox::JobMonitor monitor;
      Verdict here = device.execute(*job, monitor);
      check = check_claim(claimed.verdict, here);
      if (is_undecided(here))
        replay_plans(bundle, claimed, *catalog.find(claimed.operator_name), device, limits, check);
      here.job = claimed.job;
      here.provenance.suite_id = claimed.verdict.provenance.suite_id;  // the same, or unknown
      if (check.state == CheckState::verified) claims.verdicts[claimed.job] = std::move(here);
    } else {
      check.note = job.error();
    }
    if (judged) judged(claimed, check);
    claims.checks.emplace(claimed.job, std::move(check));
  }
  return claims;
}

}  // namespace assay::site
