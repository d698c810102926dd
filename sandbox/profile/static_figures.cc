#include "sandbox/profile/static_figures.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "base/text.h"
#include "sandbox/job/verdict_builder.h"
#include "sandbox/profile/diagnosis.h"
#include "sandbox/profile/targets.h"
#include "sandbox/record/record_cases.h"

namespace assay::sandbox {
namespace {

// A launch whose number of blocks is below this share of the number of multiprocessors is always
// slow.
constexpr double kSlowGridShare = 0.25;
constexpr double kSlowOccupancy = 0.25;
constexpr std::int64_t kManyLaunches = 16;
constexpr std::size_t kNameBytes = 120;  // of a kernel, in a hint
// The prefix of the names of Assay's own kernels, which the recorder adds for copies. Only a hint
// depends on this prefix.
constexpr std::string_view kRecorderKernels = "assay_";

/// Returns the name of a kernel as a part of a sentence. An instance of a template may have a name
/// that is longer than the sentence.
std::string short_name(const KernelReport& kernel) {
  return cut_end(escape_line(kernel.name), kNameBytes);
}

std::string percent(double share) { return std::to_string(std::lround(share * 100)) + " %"; }

double volume(const CaseRequest& one) {
  double product = 1;
  for (const auto& [name, extent] : one.axes)
    product *= static_cast<double>(std::max<std::int64_t>(extent, 1));
  return product;
}

}  // namespace

void fill_occupancy(KernelReport& kernel) {
  const auto limits = target_limits(kernel.target);
  if (!limits) return;
  const Occupancy found = occupancy(*limits, kernel.num_warps * limits->warp_size, kernel.registers,
                                    kernel.shared_bytes);
  kernel.occupancy = found.fraction;
  kernel.occupancy_limiter = found.limiter;
}

std::vector<Hint> static_hints(const std::vector<KernelReport>& kernels, std::string_view target,
                               const std::string& case_id, double cost_bytes) {
  std::vector<Hint> hints;
  const auto limits = target_limits(target);
  if (!limits) return hints;
  const std::int64_t launches = launches_of(kernels), widest = widest_grid(kernels);
  const double share = static_cast<double>(widest) / static_cast<double>(limits->multiprocessors);
  if (widest > 0 && cost_bytes >= kWorkForWholeGpuBytes && share < kSlowGridShare) {
    hints.push_back({HintKind::would_be_slow, case_id,
                     "would be slow: its widest launch has " + std::to_string(widest) +
                         (widest == 1 ? " program" : " programs") + " for " +
                         std::to_string(limits->multiprocessors) + " multiprocessors (" +
                         std::string(limits->device_name) + "), so at most " +
                         percent(std::min(1.0, share)) +
                         " of the GPU works; split the work over more programs"});
  }
  for (const KernelReport& kernel : kernels) {
    if (kernel.spill_bytes > 0) {
      hints.push_back({HintKind::spills, case_id,
                       short_name(kernel) + " spills " + std::to_string(kernel.spill_bytes) +
                           " bytes a thread to local memory; use smaller blocks or more warps"});
    }
    if (kernel.occupancy > 0 && kernel.occupancy < kSlowOccupancy &&
        kernel.occupancy_limiter != "warps") {
      hints.push_back({HintKind::low_occupancy, case_id,
                       short_name(kernel) + " reaches " + percent(kernel.occupancy) +
                           " occupancy, limited by " + kernel.occupancy_limiter +
                           "; fine for a matrix kernel that pipelines its loads, otherwise too few "
                           "warps to hide memory latency"});
    }
  }
  if (launches >= kManyLaunches) {
    hints.push_back(
        {HintKind::many_launches, case_id,
         "launches " + std::to_string(launches) + " kernels; each costs microseconds: fuse them"});
  }
  return hints;
}

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
  std::string case_id;  // the case whose recording has these kernels
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

namespace {

/// Returns the traffic of the case whose kernels add_static_figures() describes: the first case
/// that has kernels. Returns 0 if there is none.
double cost_of_kernels(const PreparedJob& prepared, const CandidateResults& results) {
  const auto done = std::find_if(results.cases.begin(), results.cases.end(),
                                 [](const CaseDone& one) { return !one.kernels.empty(); });
  if (done == results.cases.end()) return 0;
  const auto described = std::find_if(prepared.cases.begin(), prepared.cases.end(),
                                      [&](const PreparedCase& one) { return one.id == done->id; });
  return described == prepared.cases.end() ? 0 : described->cost_bytes;
}

}  // namespace

void compile_job(JobExecution& run, const CompileTools& tools) {
  const Job& job = run.job();
  const Job chosen = job.every_case ? job : largest_case_only(job);
  run.enter(Stage::judge);
  Result<PreparedJob> prepared =
      tools.describer.describe(chosen, run.deadline(job.limits.judge_wall_ms));
  if (!prepared) {
    run.fail_by_judge(prepared.error(), "describing cases");
    return;
  }
  const std::vector<std::string> targets =
      job.targets.empty() ? std::vector<std::string>{tools.default_target} : job.targets;
  for (const std::string& target : targets) {
    std::optional<CandidateResults> results =
        tools.recorder.record(run, {*prepared,
                                    all_cases(*prepared),
                                    target,
                                    job.source,
                                    {.artifacts = job.want_artifacts, .language = job.language}});
    if (!results) return;
    const double cost = cost_of_kernels(*prepared, *results);
    add_static_figures(run.verdict(), std::move(*results), target, cost, job.want_artifacts);
  }
  Verdict& verdict = run.verdict();
  verdict.outcome = Outcome::pass;
  verdict.stage = Stage::done;
  if (std::all_of(verdict.kernels.begin(), verdict.kernels.end(), [](const KernelReport& kernel) {
        return kernel.name.starts_with(kRecorderKernels);
      }))
    verdict.hints.push_back({HintKind::no_own_kernel, "", "launches no kernel of its own"});
}

}  // namespace assay::sandbox
