#include "sandbox/launcher/process/serve.h"

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "sandbox/launcher/plan/plan.h"
#include "sandbox/launcher/process/messages.h"
#include "sandbox/launcher/process/request_memory.h"
#include "sandbox/launcher/replay/replay.h"
#include "sandbox/wire/deadline.h"
#include "sandbox/wire/frame.h"

namespace assay::sandbox {
namespace {

/// Tells the supervisor that the inputs may be changed, and waits until they are.
LaunchStatus stage_next_inputs(int socket, const std::string& case_id) {
  const auto broken = [](const Error& error) {
    return launch_fail(LaunchErrorKind::internal_error, "waiting for new inputs: " + error.message);
  };
  if (Status sent = send_frame(socket, primed_message(case_id), {}, {}, Deadline::never()); !sent)
    return broken(sent.error());
  Result<Frame> frame = receive_frame(socket, Deadline::never());
  if (!frame) return broken(frame.error());
  if (Status due = check_sample(*frame); !due) return broken(due.error());
  return {};
}

LaunchResult<ReplayResult> perform(int socket, const LaunchMessage& message, GpuDriver& gpu,
                                   TrustedKernels* ours, const Clock& clock) {
  Result<Plan> plan = decode_plan(message.plan);
  if (!plan) return launch_fail(LaunchErrorKind::invalid_plan, plan.error().message);
  Result<RequestMemory> memory = RequestMemory::open(message, gpu);
  if (!memory) return launch_fail(LaunchErrorKind::internal_error, memory.error().message);
  ReplayRequest request;
  request.gpu_memory_bytes = message.gpu_memory_bytes;
  if (message.time) request.timing = message.timing;
  if (message.stage_next_inputs)
    request.stage_next_inputs = [&] { return stage_next_inputs(socket, message.case_id); };
  request.answers = message.answers;
  request.ablated = message.ablated;
  request.inspect = message.inspect;
  request.ours = ours;
  return replay(gpu, *plan, memory->exchange(), request, clock);
}

}  // namespace

Status serve(int socket, GpuDriver& gpu, const std::vector<LayerReport>& layers,
             const Clock& clock) {
  // Now, while nobody waits: the driver compiles them.
  std::optional<TrustedKernels> ours;
  if (gpu.facts().shared_bytes_per_block > 0) {  // else there are no real multiprocessors
    LaunchResult<TrustedKernels> loaded = TrustedKernels::load(gpu);
    if (!loaded)
      return fail(ErrorCode::unavailable, "kernels of our own: " + loaded.error().message);
    ours.emplace(std::move(*loaded));
  }
  if (Status sent =
          send_frame(socket, ready_message(gpu.facts(), layers), {}, {}, Deadline::never());
      !sent)
    return sent;
  std::optional<std::string> lost_in;  // the case whose fault lost the context
  while (true) {
    Result<Frame> frame = receive_frame(socket, Deadline::never());
    if (!frame && frame.error().code == ErrorCode::unavailable) return {};
    if (!frame) return fail(frame.error());
    Result<LaunchMessage> message = parse_launch(std::move(*frame));
    if (!message) return fail(message.error());

    LaunchResult<ReplayResult> result =
        lost_in ? launch_fail(LaunchErrorKind::gpu_fault,
                              "the GPU context was lost in case '" + *lost_in + "'")
                : perform(socket, *message, gpu, ours ? &*ours : nullptr, clock);
    if (!result && result.error().kind == LaunchErrorKind::gpu_fault && !lost_in)
      lost_in = message->case_id;
    const auto answer = result ? launched_message(message->case_id, *result)
                               : launch_error_message(message->case_id, result.error());
    if (Status sent = send_frame(socket, answer, {}, {}, Deadline::never()); !sent) return sent;
  }
}

}  // namespace assay::sandbox
