#include "sandbox/launcher/process/serve.h"

#include <sys/mman.h>

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "sandbox/launcher/memory/shared_buffers.h"
#include "sandbox/launcher/plan/plan.h"
#include "sandbox/launcher/replay/replay.h"
#include "sandbox/wire/deadline.h"
#include "sandbox/wire/frame.h"
#include "sandbox/wire/launch_reply.h"
#include "sandbox/wire/launch_request.h"
#include "sandbox/wire/memfd.h"

namespace assay::sandbox {
namespace {

/// Populates all pages of a mapping in one call. This avoids a page fault for each page during the
/// copy to the GPU. Older Linux kernels lack this call. On such a kernel the page faults still
/// happen.
void populate([[maybe_unused]] const Mapping& memory) {
#ifdef MADV_POPULATE_READ
  if (memory.size() > 0) ::madvise(memory.data(), memory.size(), MADV_POPULATE_READ);
#endif
}

Status check_range(const std::string& what, std::uint64_t offset, std::uint64_t bytes,
                   std::uint64_t size) {
  if (offset <= size && bytes <= size - offset) return {};
  return fail(ErrorCode::corrupt, what + ": " + std::to_string(bytes) + " bytes from " +
                                      std::to_string(offset) + " on are outside its memory of " +
                                      std::to_string(size) + " bytes");
}

/// The access to a judge's device memory that is kept for the next requests of the same job. The
/// memory may be mapped between two requests, when no submitted code runs. replay() hides it before
/// it loads code.
struct HeldMemory {
  std::uint64_t id = 0;  // LaunchRequest::memory_id
  std::shared_ptr<SharedMapping> mapping = {};
};

/// Opens the memory of one launch request as the SharedBuffers that replay() uses: mapped memory
/// files or shared device memory. Checks that each range is inside its memory. The request must
/// outlive the object.
class RequestMemory {
 public:
  /// Errors: `corrupt` if a range is not inside its memory; `io` if a file cannot be mapped.
  static Result<RequestMemory> open(const LaunchRequest& request, const std::vector<UniqueFd>& fds,
                                    GpuDriver& gpu, HeldMemory& held);

  SharedBuffers& buffers() { return *buffers_; }

 private:
  Status map_files(const LaunchRequest& request, const std::vector<UniqueFd>& fds, GpuDriver& gpu);
  Status describe_device(const LaunchRequest& request, int handle, GpuDriver& gpu,
                         HeldMemory& held);

  // Maps the index of a file descriptor to the file's mapping. One file may contain several inputs.
  std::map<std::size_t, Mapping> files_;
  Mapping output_;
  std::unique_ptr<SharedBuffers> buffers_;  // refers to the members above
};

Result<RequestMemory> RequestMemory::open(const LaunchRequest& request,
                                          const std::vector<UniqueFd>& fds, GpuDriver& gpu,
                                          HeldMemory& held) {
  RequestMemory memory;
  if (held.id != request.memory_id) held = {};
  Status opened = request.device_bytes > 0
                      ? memory.describe_device(request, fds[request.output_fd].get(), gpu, held)
                      : memory.map_files(request, fds, gpu);
  if (!opened) return fail(opened.error());
  return memory;
}

Status RequestMemory::map_files(const LaunchRequest& request, const std::vector<UniqueFd>& fds,
                                GpuDriver& gpu) {
  std::vector<HostInput> inputs;
  for (const LaunchInput& input : request.inputs) {
    if (!files_.contains(input.fd)) {
      const int fd = fds[input.fd].get();
      Result<std::uint64_t> size = check_foreign_memfd(fd);
      if (!size)
        return fail(size.error().code, "input " + input.name + ": " + size.error().message);
      Result<Mapping> mapping = Mapping::map(fd, *size, false);
      if (!mapping) return fail(mapping.error());
      populate(*mapping);
      files_.emplace(input.fd, std::move(*mapping));
    }
    const std::span<const std::byte> file = files_.at(input.fd).bytes();
    if (Status inside = check_range("input " + input.name, input.offset, input.bytes, file.size());
        !inside)
      return inside;
    inputs.push_back({input.name, file.subspan(input.offset, input.bytes), input.inout});
  }
  const int output = fds[request.output_fd].get();
  Result<std::uint64_t> room = check_foreign_memfd(output);
  if (!room) return fail(room.error().code, "outputs: " + room.error().message);
  if (Status inside = check_range("outputs", request.output_offset, request.output_bytes, *room);
      !inside)
    return inside;
  Result<Mapping> mapping =
      Mapping::map(output, request.output_offset + request.output_bytes, true);
  if (!mapping) return fail(mapping.error());
  output_ = std::move(*mapping);
  buffers_ = std::make_unique<HostBuffers>(gpu, std::move(inputs),
                                           output_.bytes().subspan(request.output_offset));
  return {};
}

Status RequestMemory::describe_device(const LaunchRequest& request, int handle, GpuDriver& gpu,
                                      HeldMemory& held) {
  std::vector<DeviceInput> inputs;
  for (const LaunchInput& input : request.inputs) {
    if (Status inside =
            check_range("input " + input.name, input.offset, input.bytes, request.device_bytes);
        !inside)
      return inside;
    inputs.push_back({input.name, input.offset, input.bytes, input.inout});
  }
  if (Status inside =
          check_range("outputs", request.output_offset, request.output_bytes, request.device_bytes);
      !inside)
    return inside;
  std::shared_ptr<SharedMapping> mapping = held.mapping;
  if (mapping && mapping->bytes() != request.device_bytes)
    return fail(ErrorCode::corrupt, "`memory_id` is that of a memory of another size");
  if (mapping)
    mapping->set_descriptor(handle);
  else
    mapping =
        std::make_shared<SharedMapping>(gpu, SharedDeviceMemory{handle, request.device_bytes});
  if (request.memory_id != 0) held = {request.memory_id, mapping};
  buffers_ =
      std::make_unique<DeviceBuffers>(gpu, std::move(mapping), std::move(inputs),
                                      SharedRange{request.output_offset, request.output_bytes});
  return {};
}

/// Tells the supervisor that the inputs may now be changed, and waits until the supervisor reports
/// that they have been changed.
LaunchStatus stage_next_inputs(int socket, const std::string& case_id) {
  const auto broken = [](const Error& error) {
    return launch_fail(LaunchErrorKind::internal_error, "waiting for new inputs: " + error.message);
  };
  if (Status sent = send_frame(socket, to_header(Primed{case_id}), {}, {}, Deadline::never());
      !sent)
    return broken(sent.error());
  Result<Frame> frame = receive_frame(socket, Deadline::never());
  if (!frame) return broken(frame.error());
  if (Status due = parse_sample_request(*frame); !due) return broken(due.error());
  return {};
}

TimingRules rules_of(const TimedBlock& block) {
  TimingRules rules;
  rules.min_samples = block.min_samples;
  rules.max_samples = block.max_samples;
  rules.max_time_ms = block.max_time_ms;
  rules.warm_up_ms = block.warm_up_ms;
  rules.side_samples = block.side_samples;
  rules.all_fresh = block.all_fresh;
  return rules;
}

/// The objects that every launch of this process uses.
struct Serving {
  int socket = -1;
  GpuDriver& gpu;
  TrustedKernels* trusted = nullptr;  // null if the device cannot run trusted kernels
  const Clock& clock;
  std::optional<SanitizerTool> sanitizer = {};
};

/// Hides the judge's memory, unless the request uses it. Otherwise replay() does this.
LaunchStatus hide_unused(const LaunchRequest& request, const HeldMemory& held) {
  return held.mapping && request.device_bytes == 0 ? held.mapping->close() : LaunchStatus();
}

/// Performs the request of a `launch` frame.
LaunchResult<Launched> perform(const Serving& with, const LaunchRequest& request,
                               const Frame& frame, HeldMemory& held) {
  Result<Plan> plan = decode_plan(frame.payload);
  if (!plan) return launch_fail(LaunchErrorKind::invalid_plan, plan.error().message);
  Result<RequestMemory> memory = RequestMemory::open(request, frame.fds, with.gpu, held);
  if (!memory) return launch_fail(LaunchErrorKind::internal_error, memory.error().message);
  if (LaunchStatus s = hide_unused(request, held); !s) return tl::unexpected(s.error());
  ReplayRequest replayed;
  replayed.gpu_memory_bytes = request.gpu_memory_bytes;
  if (request.time && with.sanitizer)
    return launch_fail(LaunchErrorKind::internal_error, "a sanitizer's launcher times nothing");
  if (request.time) replayed.timing = rules_of(*request.time);
  if (request.stage_next_inputs)
    replayed.stage_next_inputs = [&] { return stage_next_inputs(with.socket, request.case_id); };
  replayed.chosen.assign(request.chosen.begin(), request.chosen.end());
  replayed.ablated = request.ablated;
  replayed.inspect = request.inspect;
  replayed.returns_outputs = request.returns_outputs;
  replayed.trusted = with.trusted;
  replayed.sanitizer = with.sanitizer;
  LaunchResult<Launched> launched =
      replay(with.gpu, *plan, memory->buffers(), replayed, with.clock);
  if (!launched) (void)memory->buffers().close();  // the mapping may be open
  return launched;
}

/// Answers a request to check the device. `lost_in` is the case whose fault made the GPU's context
/// unusable.
Status answer_check(int socket, GpuDriver& gpu, const std::optional<std::string>& lost_in) {
  if (lost_in)
    return fail(ErrorCode::unavailable, "the GPU context was lost in case '" + *lost_in + "'");
  if (LaunchStatus well = check_health(gpu); !well)
    return fail(ErrorCode::unavailable, well.error().message);
  return send_frame(socket, to_header(Checked{}), {}, {}, Deadline::never());
}

}  // namespace

Status serve(int socket, GpuDriver& gpu, const std::vector<LayerReport>& layers, const Clock& clock,
             std::optional<SanitizerTool> sanitizer) {
  // The driver compiles the trusted kernels when they are loaded. They are loaded before `ready` is
  // sent, so that no job has to wait for the compiler.
  std::optional<TrustedKernels> trusted;
  // The fake device has no shared memory, and cannot run trusted kernels.
  if (gpu.facts().shared_bytes_per_block > 0) {
    LaunchResult<TrustedKernels> loaded = TrustedKernels::load(gpu);
    if (!loaded)
      return fail(ErrorCode::unavailable, "loading the trusted kernels: " + loaded.error().message);
    trusted.emplace(std::move(*loaded));
    if (LaunchStatus rehearsed = trusted->rehearse(); !rehearsed)
      return fail(ErrorCode::unavailable,
                  "running the trusted kernels: " + rehearsed.error().message);
  }
  const nlohmann::json ready = to_header(LauncherReady{gpu.facts(), layers});
  if (Status sent = send_frame(socket, ready, {}, {}, Deadline::never()); !sent) return sent;
  const Serving with{.socket = socket,
                     .gpu = gpu,
                     .trusted = trusted ? &*trusted : nullptr,
                     .clock = clock,
                     .sanitizer = sanitizer};
  HeldMemory held;
  std::optional<std::string> lost_in;  // the case whose fault made the GPU's context unusable
  while (true) {
    Result<Frame> frame = receive_frame(socket, Deadline::never());
    if (!frame && frame.error().code == ErrorCode::unavailable) return {};
    if (!frame) return fail(frame.error());
    if (is_release_request(*frame)) {
      held = {};
      continue;
    }
    if (is_check_request(*frame)) {
      held = {};
      if (Status checked = answer_check(socket, gpu, lost_in); !checked) return checked;
      continue;
    }
    const Result<LaunchRequest> request = parse_launch_request(*frame);
    if (!request) return fail(request.error());

    LaunchResult<Launched> result =
        lost_in ? launch_fail(LaunchErrorKind::gpu_fault,
                              "the GPU context was lost in case '" + *lost_in + "'")
                : perform(with, *request, *frame, held);
    if (!result && result.error().kind == LaunchErrorKind::gpu_fault && !lost_in)
      lost_in = request->case_id;
    if (result) {
      result->case_id = request->case_id;
      result->holds_memory = held.mapping != nullptr;
    }
    const nlohmann::json answer =
        result ? to_header(*result) : to_header(LaunchFailure{request->case_id, result.error()});
    if (Status sent = send_frame(socket, answer, {}, {}, Deadline::never()); !sent) return sent;
  }
}

}  // namespace assay::sandbox
