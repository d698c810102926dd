#include "sandbox/judging/judging.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>

#include "sandbox/job/verdict_builder.h"
#include "sandbox/record/case_io.h"
#include "sandbox/wire/memfd.h"

namespace assay::sandbox {

namespace {

constexpr const char* kReordered =
    "copies by torch, not the submission's kernels, put the elements of an output in their order, "
    "which is the work of an operator of family layout; torch may pad, cut off, convert, and move "
    "a block";

constexpr const char* kSecondRun =
    "run once more without the results of its kernels, the submission ended instead of returning: ";

bool is_resource_limit(ErrorKind kind) {
  return kind == ErrorKind::timeout || kind == ErrorKind::memory_limit ||
         kind == ErrorKind::process_limit || kind == ErrorKind::gpu_memory_limit;
}

}  // namespace

bool ended_without_kernels(JobExecution& run, const std::vector<std::size_t>& cases,
                           const Verdict& ended) {
  Verdict& verdict = run.verdict();
  if (is_inconclusive(ended.error_kind) || ended.error_kind == ErrorKind::not_recordable) {
    verdict.diagnostic = ended.diagnostic;
    return run.fail(ended.error_kind, Stage::run, ended.detail);
  }
  // The detail names only the kind of the error, because the submission can write the text of its
  // exceptions.
  const std::string how(to_string(ended.error_kind));
  if (is_resource_limit(ended.error_kind))
    return run.fail(ended.error_kind, Stage::run, std::string(kSecondRun) + how);
  for (const std::size_t i : cases) {
    not_its_work(verdict, verdict.cases[i], std::string(kSecondRun) + how);
  }
  return true;
}

CaseRecord* judge_case(JobExecution& run, Judge& judge, const CaseOutputs& outputs) {
  const CaseRequest& request = outputs.request;
  Result<Compared> compared =
      judge.compare({run.job().id, request.id}, {.tensors = outputs.outputs, .fd = outputs.fd},
                    run.deadline(run.job().limits.judge_wall_ms), outputs.keep);
  if (!compared) {
    run.fail_by_judge(compared.error(), "judging case '" + request.id + "'");
    return nullptr;
  }
  CaseRecord record = std::move(compared->record);
  record.id = request.id;
  record.hidden = request.hidden;
  record.cost_bytes = outputs.prepared.cost_bytes;
  record.cost_flops = outputs.prepared.cost_flops;
  add_record(run.verdict(), std::move(record), compared->kind);
  run.case_done(run.verdict().cases.size());
  return &run.verdict().cases.back();
}

bool all_right(const Verdict& verdict) {
  return std::all_of(verdict.cases.begin(), verdict.cases.end(),
                     [](const CaseRecord& record) { return record.outcome == Outcome::pass; });
}

void not_its_work(Verdict& verdict, CaseRecord& record, std::string reason) {
  record.outcome = Outcome::fail;
  record.reason = std::move(reason);
  verdict.outcome = Outcome::fail;
  verdict.error_kind = ErrorKind::unattributed;
}

bool attribute(JobExecution& run, Judge& judge, const InterpretedRuns& runs,
               const std::vector<std::size_t>& cases, bool last) {
  if (!runs.without.perform(cases, last))
    return ended_without_kernels(run, cases, runs.without.run().verdict());
  for (const std::size_t i : cases) {
    const std::string& id = run.verdict().cases[i].id;
    const AttributionRuns outputs{
        .full = {.tensors = runs.full.outputs(i), .fd = runs.full.file(i)},
        .without = {.tensors = runs.without.outputs(i), .fd = runs.without.file(i)}};
    Result<Attributed> whose =
        judge.attribute({run.job().id, id}, outputs, run.deadline(run.job().limits.judge_wall_ms));
    if (!whose) return run.fail_by_judge(whose.error(), "attributing case '" + id + "'");
    if (!whose->ok) not_its_work(run.verdict(), run.verdict().cases[i], whose->reason);
    if (runs.full.is_layout(i) && (runs.full.reordered(i) || runs.without.reordered(i)))
      not_its_work(run.verdict(), run.verdict().cases[i], kReordered);
  }
  return true;
}

bool has_doubtful_origin(const Launched& launched) { return launched.moves > 0; }

void check_inputs(Verdict& verdict, CaseRecord& record, const Launched& launched) {
  if (launched.modified.empty()) return;
  record.outcome = Outcome::fail;
  record.modified = launched.modified.front();
  record.reason =
      "argument " + record.modified + " was modified; the operator's spec has it as an input";
  verdict.outcome = Outcome::fail;
  verdict.error_kind = ErrorKind::output_mismatch;
}

bool check_side_effects(JobExecution& run, Judge& judge, LaunchSession& session,
                        const LaunchedPlan& performed, CaseRecord& record) {
  const auto& [plan, launched] = performed;
  if (record.outcome != Outcome::pass) return true;
  check_inputs(run.verdict(), record, launched);
  if (record.outcome != Outcome::pass) return true;
  const bool has_kernel = std::any_of(launched.kernels.begin(), launched.kernels.end(),
                                      [](const KernelUse& kernel) { return kernel.launches > 0; });
  if (!has_kernel) {
    not_its_work(run.verdict(), record,
                 "its launch plan has no kernel: fills and copies alone made this output");
    return true;
  }
  if (plan.prepared.cases[plan.index].is_layout && launched.reordered) {
    not_its_work(run.verdict(), record, kReordered);
    return true;
  }
  if (!has_doubtful_origin(launched)) return true;
  UniqueFd file;
  if (plan.output_fd >= 0) {
    Result<UniqueFd> made = create_memfd(
        "assay-outputs", static_cast<std::uint64_t>(plan.prepared.cases[plan.index].output_bytes));
    if (!made) return run.fail_infrastructure(made.error(), "making an output file");
    file = std::move(*made);
  }
  const std::optional<Launched> without = session.launch_ablated(
      {plan.prepared, plan.index, plan.plan, file ? file.get() : -1}, launched.chosen);
  if (!without) return false;
  run.enter(Stage::judge);
  const AttributionRuns runs{
      .full = {.tensors = launched.outputs, .fd = plan.output_fd},
      .without = {.tensors = without->outputs, .fd = file ? file.get() : -1}};
  const Result<Attributed> found = judge.attribute({run.job().id, record.id}, runs,
                                                   run.deadline(run.job().limits.judge_wall_ms));
  if (!found) return run.fail_by_judge(found.error(), "attributing case '" + record.id + "'");
  if (!found->ok) not_its_work(run.verdict(), record, found->reason);
  return true;
}

}  // namespace assay::sandbox
