#include "sandbox/profile/recording.h"

#include <algorithm>
#include <cstdint>
#include <string_view>
#include <utility>

#include "sandbox/job/verdict_builder.h"
#include "sandbox/profile/hints.h"
#include "sandbox/record/record_cases.h"

namespace assay::sandbox {
namespace {

constexpr std::string_view kOurKernels =
    "assay_";  // the recorder's copies; a hint is all that hangs on the name

double volume(const CaseRequest& one) {
  double product = 1;
  for (const auto& [name, extent] : one.axes)
    product *= static_cast<double>(std::max<std::int64_t>(extent, 1));
  return product;
}

}  // namespace

Job largest_case_only(const Job& job) {
  Job small = job;
  small.id = job.id + ".record";
  const bool has_public = std::any_of(job.cases.begin(), job.cases.end(),
                                      [](const CaseRequest& one) { return !one.hidden; });
  if (has_public) std::erase_if(small.cases, [](const CaseRequest& one) { return one.hidden; });
  if (small.cases.empty()) return small;
  const auto largest = std::max_element(
      small.cases.begin(), small.cases.end(),
      [](const CaseRequest& a, const CaseRequest& b) { return volume(a) < volume(b); });
  small.cases = {*largest};
  return small;
}

void add_static_figures(Verdict& verdict, CandidateResults results, const std::string& target,
                        double cost_bytes, bool keep_artifacts) {
  std::vector<KernelReport> kernels;
  std::string case_id;  // the case that they were recorded for
  for (CaseDone& done : results.cases) {
    if (case_id.empty() && !done.kernels.empty()) case_id = done.id;
    for (KernelReport& kernel : done.kernels) {
      fill_occupancy(kernel);
      kernels.push_back(std::move(kernel));
    }
    if (keep_artifacts && !done.plan.empty())
      verdict.artifacts.push_back({"plan", done.id + " " + target, std::move(done.plan)});
  }
  for (Hint& hint : static_hints(kernels, target, case_id, cost_bytes))
    add_hint(verdict, std::move(hint));
  std::move(kernels.begin(), kernels.end(), std::back_inserter(verdict.kernels));
  if (keep_artifacts)
    std::move(results.artifacts.begin(), results.artifacts.end(),
              std::back_inserter(verdict.artifacts));
}

void compile_job(JobExecution& run, CandidatePool& pool, Judge& judge,
                 const std::string& default_target) {
  const Job& job = run.job();
  const Job chosen = job.every_case ? job : largest_case_only(job);
  run.enter(Stage::judge);
  Result<PreparedJob> prepared =
      judge.prepare(chosen, true, run.deadline(job.limits.judge_wall_ms));
  if (!prepared) {
    run.fail_infrastructure(prepared.error(), "preparing inputs");
    return;
  }
  judge.release(chosen.id);
  const double cost = prepared->cases.empty() ? 0 : prepared->cases.front().cost_bytes;
  const std::vector<std::string> targets =
      job.targets.empty() ? std::vector<std::string>{default_target} : job.targets;
  for (const std::string& target : targets) {
    std::optional<CandidateResults> results =
        record_cases(run, pool, *prepared, all_cases(*prepared), target, job.source,
                     {.artifacts = job.want_artifacts, .language = job.language});
    if (!results) return;
    add_static_figures(run.verdict(), std::move(*results), target, cost, job.want_artifacts);
  }
  Verdict& verdict = run.verdict();
  verdict.outcome = Outcome::pass;
  verdict.stage = Stage::done;
  if (std::all_of(verdict.kernels.begin(), verdict.kernels.end(),
                  [](const KernelReport& kernel) { return kernel.name.starts_with(kOurKernels); }))
    verdict.hints.push_back({HintKind::no_own_kernel, "", "launches no kernel of its own"});
}

}  // namespace assay::sandbox
