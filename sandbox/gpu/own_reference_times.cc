#include "sandbox/gpu/own_reference_times.h"

#include <algorithm>
#include <memory>

#include "sandbox/job/verdict_builder.h"
#include "sandbox/pool/reference_process.h"

namespace assay::sandbox {

void time_own_reference(GpuContext& gpu, JobExecution& run) {
  const Job& job = run.job();
  run.enter(Stage::baseline);
  Judge judge(std::make_unique<ReferenceProcess>(gpu.host.candidates(), job.limits, *job.reference,
                                                 "cuda:0"));
  for (CaseRecord& record : run.verdict().cases) {
    const auto request = std::find_if(job.cases.begin(), job.cases.end(),
                                      [&](const CaseRequest& one) { return one.id == record.id; });
    if (!record.latency || request == job.cases.end()) continue;
    const auto time = [&](bool eager) {
      return judge.time_compiled("", *request, run.deadline(job.limits.judge_wall_ms), eager);
    };
    const Result<CompiledTime> eager = time(true);
    if (!eager || !eager->ns) {
      add_hint(run.verdict(),
               {HintKind::pytorch_not_timed, record.id,
                "PyTorch was not timed: " + (eager ? eager->unsupported : eager.error().message)});
      return;
    }
    record.pytorch_ns = eager->ns;
    const Result<CompiledTime> compiled = time(false);
    if (compiled) record.torch_compile_ns = compiled->ns;
    record.torch_compile_unsupported = compiled ? compiled->unsupported : compiled.error().message;
  }
}

}  // namespace assay::sandbox
