#include "tools/verdict_answer.h"

namespace assay::tools {
namespace {

using sandbox::ErrorKind;
using sandbox::JobKind;

std::string after_pass(JobKind kind) {
  switch (kind) {
    case JobKind::compile: return "`run_tests` checks the results on the public cases.";
    case JobKind::test: return "`profile` shows how fast it is; `submit` with a run grades it on public and hidden cases.";
    case JobKind::profile: return "Improve it and `run_tests` again, or `submit` it with a run.";
    case JobKind::grade: return "Done with this operator; `scorecard` shows the run.";
  }
  return "";
}

std::string after_error(ErrorKind kind) {
  switch (kind) {
    case ErrorKind::wrong_result: return "Compare with the reference in `fetch_spec`: masks at the edge, the dtype of sums, the axis, strides.";
    case ErrorKind::unattributed: return "Let Triton kernels of yours compute the outputs; torch may allocate, fill, copy and take views.";
    case ErrorKind::output_mismatch: return "Return every output with the number, shape and dtype that `fetch_spec` lists, in its order.";
    case ErrorKind::missing_entry: return "Define the entry function with exactly the name and parameters of the signature in `fetch_spec`.";
    case ErrorKind::compilation_error: return "Repair the kernel at that line, then `compile` again.";
    case ErrorKind::timeout: return "Look for an endless loop or far too much work per program; `fetch_spec` lists the limits.";
    case ErrorKind::memory_limit:
    case ErrorKind::gpu_memory_limit:
    case ErrorKind::disk_limit:
    case ErrorKind::process_limit:
    case ErrorKind::output_limit: return "Stay within the limits that `fetch_spec` lists: allocate only outputs and scratch, print nothing, start nothing.";
    case ErrorKind::crash: return "Host code died of a signal: check pointers, ctypes and extension calls.";
    case ErrorKind::protocol_error: return "Return from the entry function; do not exit the process, fork, or touch its file descriptors.";
    case ErrorKind::not_recordable: return "Keep the computation in kernels and never read tensor values on the host (.item(), .cpu(), if on a tensor).";
    case ErrorKind::invalid_plan:
    case ErrorKind::launch_failure: return "Check the launch: grid, shared memory, number of warps, and that arguments are the tensors given or made here.";
    case ErrorKind::gpu_fault:
    case ErrorKind::canary_violation: return "A kernel accesses memory outside its buffers: check masks and index arithmetic (int32 overflow).";
    case ErrorKind::floor_violation: return "Faster than the hardware allows means that the work was not done for every call; compute the result each time.";
    case ErrorKind::unsupported: return "Use another device or target, as the answer says.";
    case ErrorKind::cancelled: return "It was cancelled; send it again if you still want it.";
    case ErrorKind::aborted:
    case ErrorKind::internal_error: return "This is not the submission's fault and does not count; send it again.";
    case ErrorKind::device_unhealthy: return "This is not the submission's fault and does not count; send it again when the device is back, or use another.";
    default: return "Repair the source at that line, then `run_tests`.";
  }
}

}  // namespace

std::string next_step(const sandbox::Verdict& verdict) {
  if (verdict.outcome == sandbox::Outcome::pass) return after_pass(verdict.kind);
  if (verdict.profile && verdict.error_kind == ErrorKind::unsupported) return "Change it as suggested and `profile` again; `run_tests` checks the results on the cases that this device can run.";
  std::string text = after_error(verdict.error_kind);
  const bool ours = verdict.error_kind == ErrorKind::aborted || verdict.error_kind == ErrorKind::device_unhealthy || verdict.error_kind == ErrorKind::internal_error;
  if (verdict.kind == JobKind::grade && !ours) {
    text += " This submission has been graded and counts.";
  }
  return text;
}

}  // namespace assay::tools
