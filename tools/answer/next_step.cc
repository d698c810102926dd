#include <optional>
#include <string>
#include <string_view>

#include "tools/answer/verdict_answer.h"
#include "tools/answer/wrong_hint.h"

namespace assay::tools {
namespace {

using operators::Operator;
using sandbox::ErrorKind;
using sandbox::JobKind;
using sandbox::Stage;
using sandbox::Verdict;

constexpr std::size_t kMaxNameBytes = 60;

std::string after_pass(JobKind kind) {
  switch (kind) {
    case JobKind::compile: return "`run_tests` checks the results on the public cases.";
    case JobKind::test:
      return "`profile` shows how fast it is; `submit` with a run grades it on public and hidden "
             "cases.";
    case JobKind::profile: return "Improve it and `run_tests` again, or `submit` it with a run.";
    case JobKind::grade: return "This operator is done; `scorecard` shows the run.";
  }
  return "";
}

/// Returns the name of the operation or argument that the error is about, or "" if there is none.
/// The name comes from the submission's process, which is untrusted. So any text that is not a
/// plain name counts as no name.
std::string subject_of(const Verdict& verdict) {
  std::string name = verdict.diagnostic ? verdict.diagnostic->subject : "";
  for (const auto& record : verdict.cases) {
    if (name.empty()) name = record.modified;
  }
  const bool plain =
      name.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.:") ==
      std::string::npos;
  return plain && name.size() <= kMaxNameBytes ? name : "";
}

bool has_line(const Verdict& verdict) {
  return verdict.diagnostic && verdict.diagnostic->line.has_value();
}

std::string after_output_mismatch(const Verdict& verdict) {
  const std::string argument = subject_of(verdict);
  if (!argument.empty())
    return "Write to a new tensor (torch.empty_like), not to " + argument + ".";
  return "Return every output with the number, shape and dtype that `fetch_spec` lists, in its "
         "order.";
}

/// Says how the adapter of an operator calls a submission.
std::string call_text(const Operator& op) {
  return op.call.empty() ? "`fetch_spec` shows how Assay calls it."
                         : "Assay calls `" + op.call + "`.";
}

std::string after_missing_entry(const Verdict& verdict, const Operator* op) {
  if (verdict.language == sandbox::kCudaCpp) {
    std::string names;
    if (op != nullptr) {
      for (const auto& argument : op->arguments) names += "\"" + argument.name + "\", ";
      for (const auto& output : op->outputs) {
        if (output.from.empty()) names += "\"" + output.name + "\", ";
      }
    }
    const std::string out = op == nullptr || op->outputs.empty() ? "y" : op->outputs.front().name;
    return "Begin the source with, say, /* assay launch = [{kernel = \"k\", grid = \"ceil_div(" +
           out + ".numel, 256)\", block = 256, args = [" +
           (names.empty() ? "\"x\", \"y\"" : names.substr(0, names.size() - 2)) +
           "]}] */; `fetch_spec` with language=cuda describes the rest.";
  }
  if (op != nullptr && !op->adapter.empty())
    return "Define the function that the message names. " + call_text(*op);
  return op == nullptr ? "Define the entry function with exactly the name and parameters of the "
                         "signature in `fetch_spec`."
                       : "Define `" + op->signature + "`.";
}

std::string after_compilation_error(const Verdict& verdict) {
  if (verdict.diagnostic && verdict.diagnostic->exception == "OutOfResources")
    return "Use smaller blocks or fewer num_stages (shared memory), or more warps, then `compile` "
           "again.";
  return std::string("Repair the kernel") + (has_line(verdict) ? " at that line" : "") +
         ", then `compile` again.";
}

std::string after_crash(const Verdict& verdict) {
  if (verdict.tier == sandbox::Tier::interpreter)
    return "In the interpreter the cause is usually a tl.load or tl.store outside its tensor: "
           "check "
           "its mask and its index.";
  return "A signal killed the host code: check pointers, ctypes and extension calls.";
}

std::string after_not_recordable(const Verdict& verdict) {
  if (verdict.stage == Stage::import && has_line(verdict))
    return "Remove this line, which runs at import, then `run_tests`.";
  const std::string operation = subject_of(verdict);
  if (!operation.empty()) return "Replace " + operation + " with a kernel of your own.";
  return "Keep the computation in kernels and never read tensor values on the host (.item(), "
         ".cpu(), `if` on a tensor).";
}

/// Returns the next step after an error that the submission's own Python code raised.
std::string after_exception(const Verdict& verdict, const Operator* op) {
  const bool called = verdict.stage == Stage::record || verdict.stage == Stage::run;
  if (has_line(verdict) && called && op != nullptr && !op->call.empty())
    return call_text(*op) + " Repair the source at that line, then `run_tests`.";
  if (has_line(verdict)) return "Repair the source at that line, then `run_tests`.";
  // The error names no line of the submission, so the call of the entry function failed.
  if (verdict.error_kind == ErrorKind::type_error && op != nullptr && !op->adapter.empty())
    return call_text(*op) + " Define a function that takes these arguments.";
  if (verdict.error_kind == ErrorKind::type_error && op != nullptr)
    return "The entry function is called as `" + op->signature +
           "`: define it with these parameters, in this order.";
  return "Repair the source, then `run_tests`.";
}

std::string after_error(const Verdict& verdict, const Operator* op) {
  switch (verdict.error_kind) {
    case ErrorKind::wrong_result: return wrong_hint(verdict);
    case ErrorKind::hidden_case:
      return "Look for what the public cases do not show: masks at the edge, strides, int32 "
             "overflow, other dtypes, extreme values and NaN.";
    case ErrorKind::unattributed:
      return "Compute the outputs in your own kernels; torch may allocate, fill, copy and take "
             "views.";
    case ErrorKind::output_mismatch: return after_output_mismatch(verdict);
    case ErrorKind::missing_entry: return after_missing_entry(verdict, op);
    case ErrorKind::interface_mismatch:
      return "Give the class the constructor, the forward, and the parameters and buffers (names "
             "and "
             "shapes) of Model, whose source `fetch_spec` shows.";
    case ErrorKind::compilation_error: return after_compilation_error(verdict);
    case ErrorKind::timeout:
      return "Look for an endless loop, or for far too much work in one program; `fetch_spec` "
             "lists "
             "the limits.";
    case ErrorKind::memory_limit:
    case ErrorKind::gpu_memory_limit:
    case ErrorKind::disk_limit:
    case ErrorKind::process_limit:
    case ErrorKind::output_limit:
      return "Stay within the limits that `fetch_spec` lists: allocate only outputs and scratch, "
             "print nothing, start no processes.";
    case ErrorKind::crash: return after_crash(verdict);
    case ErrorKind::protocol_error:
      return "Return from the entry function; do not exit the process, fork, or touch its file "
             "descriptors.";
    case ErrorKind::not_recordable: return after_not_recordable(verdict);
    case ErrorKind::invalid_plan:
    case ErrorKind::launch_failure:
      return "Check the launch: grid, shared memory, number of warps. Each tensor argument must be "
             "an input or a tensor that your code allocated.";
    case ErrorKind::gpu_fault:
    case ErrorKind::canary_violation:
      return "A kernel accesses memory outside its buffers: check masks and index arithmetic "
             "(int32 overflow).";
    case ErrorKind::memory_error:
      return "Mask the access, or store to the memory before it is read: scratch from torch.empty "
             "has no values.";
    case ErrorKind::race:
      return "Order the accesses with a barrier that every thread of the block reaches "
             "(__syncthreads, tl.debug_barrier).";
    case ErrorKind::floor_violation:
      return "The time is shorter than the hardware allows, so the work was not done in every "
             "call; "
             "compute the result each time.";
    case ErrorKind::unsupported:
      return "Use another device, target or operator, as the answer says.";
    case ErrorKind::reference_error:
      if (op != nullptr)
        return "The operator's own reference failed, so nothing is known about the kernel: choose "
               "another operator, and report this one to whoever runs the server.";
      return "The reference failed, so nothing is known about the kernel: repair the reference.";
    case ErrorKind::cancelled:
      return "The job was cancelled; send the code again if you still want the result.";
    case ErrorKind::aborted:
    case ErrorKind::internal_error:
      return "This is not the submission's fault and does not count; send the code again.";
    case ErrorKind::device_unhealthy:
      return "This is not the submission's fault and does not count; send the code again when the "
             "device works again, or use another device.";
    default: return after_exception(verdict, op);
  }
}

}  // namespace

std::string next_step(const Verdict& verdict, const Operator* op) {
  if (verdict.outcome == sandbox::Outcome::pass) return after_pass(verdict.kind);
  if (verdict.profile && verdict.error_kind == ErrorKind::unsupported)
    return "`run_tests` checks the results on the cases that this device can run; `profile` again "
           "after a change.";
  std::string text = after_error(verdict, op);
  if (verdict.kind == JobKind::grade && !sandbox::is_infrastructure_error(verdict.error_kind)) {
    text += " This submission has been graded and counts.";
  }
  return text;
}

}  // namespace assay::tools
