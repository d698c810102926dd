#include "sandbox/device/public_compile.h"

#include <algorithm>
#include <exception>
#include <utility>

#include "sandbox/judging/judging.h"
#include "sandbox/profile/static_figures.h"
#include "sandbox/record/case_io.h"
#include "sandbox/record/record_cases.h"

namespace assay::sandbox {
namespace {

constexpr const char* kNothingRan = "device cpu: nothing was run";

Compiled compile(JobExecution run, const Compilers& compilers) {
  Compiled compiled;
  compiled.job = public_cases_only(run.job());
  const Job& job = compiled.job;
  const auto end = [&] {
    compiled.verdict = run.finish();
    return std::move(compiled);
  };
  if (job.cases.empty()) {
    run.fail(ErrorKind::unsupported, "the job has no case");
    return end();
  }
  try {
    Result<PreparedJob> prepared =
        compilers.describer.describe(job, run.deadline(job.limits.judge_wall_ms));
    if (!prepared) {
      run.fail_by_judge(prepared.error(), "describing cases");
      return end();
    }
    compiled.described = true;
    compiled.results =
        compilers.recordings.record(run, compilers.pool,
                                    {*prepared,
                                     all_cases(*prepared),
                                     compilers.target,
                                     job.source,
                                     {.artifacts = job.want_artifacts, .language = job.language}});
    const std::string largest = largest_case_only(job).cases.front().id;
    for (const PreparedCase& one : prepared->cases) {
      if (one.id == largest) compiled.cost_bytes = one.cost_bytes;
    }
  } catch (const std::exception& error) {
    compiled.results.reset();
    run.fail(ErrorKind::internal_error, std::string("compiling failed: ") + error.what());
  }
  return end();
}

/// Returns true if the error is a Python exception of the submission or of Triton's compiler.
bool is_exception(ErrorKind kind) {
  switch (kind) {
    case ErrorKind::attribute_error:
    case ErrorKind::type_error:
    case ErrorKind::not_implemented_error:
    case ErrorKind::name_error:
    case ErrorKind::key_error:
    case ErrorKind::index_error:
    case ErrorKind::module_not_found:
    case ErrorKind::import_error:
    case ErrorKind::value_error:
    case ErrorKind::zero_division:
    case ErrorKind::runtime_error:
    case ErrorKind::recursion_error:
    case ErrorKind::assertion_error:
    case ErrorKind::compilation_error:
    case ErrorKind::other_exception: return true;
    default: return false;
  }
}

/// Drops the figures of all cases but the largest, because all cases have the same kernels.
void keep_largest(Compiled& compiled) {
  const std::string largest = largest_case_only(compiled.job).cases.front().id;
  for (CaseDone& done : compiled.results->cases) {
    if (done.id != largest) done.kernels.clear();
    if (done.id != largest) done.plan.clear();
  }
}

}  // namespace

PublicCompile::PublicCompile(const JobExecution& run, const Compilers& compilers)
    : compiled_(std::async(std::launch::async, [auxiliary = run.auxiliary(), &compilers]() mutable {
        return compile(std::move(auxiliary), compilers);
      })) {}

Job public_cases_only(const Job& job) {
  Job open = job;
  std::erase_if(open.cases, [](const CaseRequest& one) { return one.hidden; });
  if (open.cases.empty()) return largest_case_only(job);
  open.id = job.id + ".record";
  if (open.cases.size() > kMaxCasesPerCandidate) open.cases.resize(kMaxCasesPerCandidate);
  return open;
}

bool fail_as_compiled(JobExecution& run, Compiled compiled) {
  Verdict& verdict = run.verdict();
  Verdict& refused = compiled.verdict;
  // Perhaps the machine was busy. So the job may run once more.
  if (refused.error_kind == ErrorKind::timeout) run.tell_shortage();
  verdict.cases.clear();
  verdict.tier = Tier::none;
  verdict.tier_reason = kNothingRan;
  run.clear_error();
  verdict.diagnostic = std::move(refused.diagnostic);
  return run.fail(refused.error_kind, refused.stage, refused.detail);
}

bool add_compiled(JobExecution& run, Compiled compiled, const std::string& target) {
  Verdict& verdict = run.verdict();
  // If the operator's code stops the judge that describes the cases, this judge no longer knows the
  // job's inputs either. The description's error is the cause, and names the case.
  if (!compiled.described && compiled.verdict.error_kind == ErrorKind::reference_error &&
      verdict.error_kind == ErrorKind::reference_error)
    return fail_as_compiled(run, std::move(compiled));
  if (run.failed() && is_inconclusive(verdict.error_kind)) return false;
  for (const auto& [stage, ms] : compiled.verdict.stage_ms) verdict.stage_ms["record"] += ms;
  if (!compiled.results) {
    const ErrorKind refused = compiled.verdict.error_kind;
    const bool passes = !run.failed() && all_right(verdict);
    // True if the interpreter could not run the submission. Then only the compiler judges it.
    const bool not_run = run.failed() && verdict.error_kind == ErrorKind::unsupported;
    // A judge that can describe no case without a GPU says nothing about the submission.
    const bool needs_gpu = refused == ErrorKind::unsupported && !compiled.described;
    const bool is_the_submissions = !is_inconclusive(refused) && !needs_gpu;
    // A job that ends in an infrastructure error counts as not judged and runs again. A client
    // could cancel a job while its compilation hangs. An operator whose code stops its judge has
    // the same error on every device.
    const bool is_not_judged = is_infrastructure_error(refused) ||
                               refused == ErrorKind::cancelled ||
                               refused == ErrorKind::reference_error;
    // An exception of the interpreter counts against the submission only if it does not compile.
    const bool is_open = passes || not_run || (run.failed() && is_exception(verdict.error_kind));
    if (refused == ErrorKind::compilation_error || ((passes || not_run) && is_the_submissions) ||
        (is_open && is_not_judged))
      return fail_as_compiled(run, std::move(compiled));
    if (is_the_submissions) return !run.failed();
    verdict.hints.push_back({HintKind::not_recorded,
                             largest_case_only(compiled.job).cases.front().id,
                             "was not compiled for " + target + " (" +
                                 std::string(to_string(compiled.verdict.error_kind)) +
                                 "), so a GPU may refuse its kernels: " + compiled.verdict.detail});
    return !run.failed();
  }
  keep_largest(compiled);
  add_static_figures(verdict, std::move(*compiled.results), target, compiled.cost_bytes,
                     run.job().want_artifacts);
  verdict.tier_reason += "; compiled for " + target;
  if (!run.failed() || !is_exception(verdict.error_kind)) return !run.failed();
  const std::string what = std::move(verdict.detail);
  const Stage stage = verdict.stage;
  std::optional<Diagnostic> diagnostic = std::move(verdict.diagnostic);
  run.clear_error();
  verdict.diagnostic = std::move(diagnostic);
  return run.fail(ErrorKind::unsupported, stage,
                  "Triton's interpreter cannot run it, although it compiles for " + target +
                      "; a GPU may run it. The interpreter ended in " + what);
}

}  // namespace assay::sandbox
