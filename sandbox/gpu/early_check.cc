#include "sandbox/gpu/early_check.h"

#include <optional>
#include <utility>

#include "sandbox/job/verdict_builder.h"
#include "sandbox/record/record_cases.h"

namespace assay::sandbox {

bool passes_early_check(GpuContext& gpu, const std::string& target, JobExecution& run) {
  Job open = run.job();
  std::erase_if(open.cases, [](const CaseRequest& one) { return one.hidden; });
  const std::optional<PreparedJob> described =
      open.cases.empty() ? std::nullopt : gpu.describer(open).values_of_earlier_job(open);
  const PreparedJob no_cases;
  run.enter(Stage::record);
  JobExecution auxiliary = run.auxiliary(open);
  const bool passed =
      described
          ? gpu.recorder(run)
                .record(auxiliary,
                        {*described,
                         all_cases(*described),
                         target,
                         open.source,
                         {.candidates = gpu.config.recorders, .language = open.language}})
                .has_value()
          : gpu.recorder(run)
                .record(auxiliary, {no_cases, {}, target, open.source, {.language = open.language}})
                .has_value();
  Verdict verdict = auxiliary.finish();
  if (passed || verdict.error_kind == ErrorKind::not_recordable ||
      is_inconclusive(verdict.error_kind))
    return true;
  run.verdict().diagnostic = std::move(verdict.diagnostic);
  run.verdict().stdout_text = std::move(verdict.stdout_text);
  run.verdict().stderr_text = std::move(verdict.stderr_text);
  // A recorder of another worker has told the versions and the layers of its candidates.
  Provenance& provenance = run.verdict().provenance;
  provenance.torch = std::move(verdict.provenance.torch);
  provenance.triton = std::move(verdict.provenance.triton);
  provenance.python = std::move(verdict.provenance.python);
  provenance.nvrtc = std::move(verdict.provenance.nvrtc);
  provenance.missing_layers = std::move(verdict.provenance.missing_layers);
  if (described) {
    for (const PreparedCase& one : described->cases)
      run.verdict().provenance.seeds[one.id] = one.seed;
  }
  return run.fail(verdict.error_kind, verdict.stage, verdict.detail);
}

}  // namespace assay::sandbox
