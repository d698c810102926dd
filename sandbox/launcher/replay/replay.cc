#include "sandbox/launcher/replay/replay.h"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <type_traits>
#include <utility>

#include "sandbox/launcher/memory/buffer_memory.h"
#include "sandbox/launcher/plan/layout.h"
#include "sandbox/launcher/plan/plan.h"
#include "sandbox/launcher/plan/plan_check.h"
#include "sandbox/launcher/replay/checked_sample.h"
#include "sandbox/launcher/replay/memory_limit.h"
#include "sandbox/launcher/replay/parts_watch.h"
#include "sandbox/launcher/replay/trials.h"
#include "sandbox/wire/launch_parts.h"

namespace assay::sandbox {
namespace {

LaunchStatus check(const GpuDriver& gpu, const Plan& plan, const SharedBuffers& shared) {
  PlanRules rules;
  rules.target = gpu.facts().target;
  rules.output_bytes = shared.output_bytes();
  for (std::size_t i = 0; i < shared.inputs(); ++i)
    rules.inputs.push_back({shared.name(i), shared.bytes(i)});
  if (Status status = check_plan(plan, rules); !status)
    return launch_fail(LaunchErrorKind::invalid_plan, status.error().message);
  return {};
}

std::string describe(const PlanBuffer& buffer, std::size_t index) {
  const char* kind = buffer.kind == BufferKind::input      ? "input "
                     : buffer.kind == BufferKind::constant ? "constant"
                                                           : "scratch";
  return "buffer " + std::to_string(index) + " (" + kind + buffer.name + ", " +
         std::to_string(buffer.bytes) + " bytes)";
}

/// Returns the index of the input with which a buffer is filled. check_plan() has checked that the
/// input exists.
std::size_t input_of(const PlanBuffer& buffer, const SharedBuffers& shared) {
  std::size_t input = 0;
  while (shared.name(input) != buffer.name) ++input;
  return input;
}

/// The state of one replay. It owns all device memory and kernels of a case. Members are destroyed
/// in reverse order, so the kernels are unloaded before the memory is freed.
class Replay {
 public:
  /// `left` is the return value of check_memory().
  Replay(GpuDriver& gpu, const Plan& plan, SharedBuffers& shared, const ReplayRequest& request,
         const Clock& clock, std::uint64_t left)
      : left_(left),
        gpu_(gpu),
        plan_(plan),
        shared_(shared),
        request_(request),
        clock_(clock),
        watch_(clock, shared),
        memory_(gpu, request.sanitizer == SanitizerTool::memcheck ? GuardedMemory::Guards::none
                                                                  : GuardedMemory::Guards::kept),
        initial_(gpu, kPoison, request.trusted),
        offsets_(output_offsets(plan)) {}

  LaunchResult<Launched> run() {
    if (LaunchStatus s = allocate(); !s) return tl::unexpected(s.error());
    watch_.end(LaunchPart::allocate);
    if (LaunchStatus s = write_first_contents(); !s) return tl::unexpected(s.error());
    watch_.end(LaunchPart::fill);
    LaunchResult<std::unique_ptr<Program>> program = Program::load(gpu_, plan_, buffers_, scratch_);
    if (!program) return tl::unexpected(program.error());
    program_ = std::move(*program);
    if (LaunchStatus s = check_local_memory(*program_, gpu_.facts(), left_); !s)
      return tl::unexpected(s.error());
    if (LaunchStatus s = apply_chosen(); !s) return tl::unexpected(s.error());
    watch_.end(LaunchPart::load);
    if (LaunchStatus s = request_.ablated ? program_->enqueue_ablated() : program_->enqueue(); !s)
      return tl::unexpected(s.error());
    if (LaunchStatus s = gpu_.synchronize(); !s) return tl::unexpected(s.error());
    watch_.end(LaunchPart::run);
    if (LaunchStatus s = memory_.check(); !s) return tl::unexpected(s.error());
    watch_.end(LaunchPart::check);

    Launched result;
    if (request_.timing && !request_.sanitizer) {
      if (LaunchStatus s = time(result); !s) return tl::unexpected(s.error());
      watch_.end(LaunchPart::run);
    }
    describe_program(result);
    // The memory of the judge is mapped next. A driver may run code of a binary when the binary is
    // unloaded (AMD's kernels of the kind `fini`), so the binaries are unloaded before.
    program_.reset();
    watch_.end(LaunchPart::free);
    if (request_.sanitizer) return result;
    if (!request_.timing) {
      if (LaunchStatus s = return_outputs(result.modified); !s) return tl::unexpected(s.error());
      if (LaunchStatus s = shared_.finish(); !s) return tl::unexpected(s.error());
      watch_.end(LaunchPart::copy);
    }
    for (std::size_t i = 0; i < plan_.outputs.size(); ++i) {
      const PlanOutput& output = plan_.outputs[i];
      result.outputs.push_back(
          {.name = "output_" + std::to_string(i),
           .dtype = output.dtype,
           .shape = output.shape,
           .strides = output.strides,
           .offset = static_cast<std::int64_t>(offsets_[i]),
           .nbytes = static_cast<std::int64_t>(output_span_bytes(output).value_or(0))});
    }
    return result;
  }
  const LaunchParts& parts() const { return watch_.parts(); }

 private:
  void describe_program(Launched& result) const {
    result.kernels = program_->kernels();
    result.moves = program_->moves();
    result.reordered = reorders(plan_);
    for (std::size_t i = 0; i < program_->tunables().size(); ++i) {
      result.chosen.push_back(static_cast<std::int64_t>(program_->chosen(i)));
      result.choices.push_back(program_->tunables()[i][program_->chosen(i)]);
    }
  }

  /// Allocates the memory of all buffers at once, if the driver prefers that.
  LaunchStatus reserve() {
    std::vector<GuardedMemory::Size> sizes;
    for (const PlanBuffer& buffer : plan_.buffers) sizes.push_back({buffer.bytes});
    const LaunchStatus found = for_each_scratch(
        plan_, [&](const KernelOp&, const GlobalScratchParam& scratch, std::uint64_t bytes) {
          sizes.push_back({bytes, scratch.alignment});
          return LaunchStatus();
        });
    return found ? memory_.reserve(sizes) : found;
  }

  LaunchStatus allocate() {
    if (LaunchStatus s = reserve(); !s) return s;
    for (std::size_t i = 0; i < plan_.buffers.size(); ++i) {
      const PlanBuffer& buffer = plan_.buffers[i];
      LaunchResult<DevicePtr> memory =
          memory_.add(buffer.bytes, kBufferAlignment, describe(buffer, i));
      if (!memory) return tl::unexpected(memory.error());
      buffers_.push_back(*memory);
      if (buffer.kind == BufferKind::scratch) {
        initial_.add_poisoned(*memory, buffer.bytes);
      } else if (buffer.kind == BufferKind::constant) {
        const auto bytes = std::as_bytes(std::span(buffer.constant.data(), buffer.constant.size()));
        initial_.add(*memory, bytes.size(),
                     [this, bytes](DevicePtr to) { return gpu_.write(to, bytes); });
      } else {
        const std::size_t input = input_of(buffer, shared_);
        initial_.add(*memory, shared_.bytes(input), [this, input](DevicePtr to) {
          return shared_.copy_in(input, to, request_.trusted);
        });
      }
    }
    return for_each_scratch(plan_,
                            [&](const KernelOp& op, const GlobalScratchParam& scratch,
                                std::uint64_t bytes) -> LaunchStatus {
                              LaunchResult<DevicePtr> memory = memory_.add(
                                  bytes, scratch.alignment,
                                  "the scratch of kernel '" + plan_.binaries[op.binary].kernel +
                                      "' (" + std::to_string(bytes) + " bytes)");
                              if (!memory) return tl::unexpected(memory.error());
                              scratch_.push_back(*memory);
                              initial_.add_poisoned(*memory, bytes);
                              return {};
                            });
  }

  /// Copies the inputs, and hides the shared memory, which the launch before may have left mapped.
  /// Only then fills all other memory. Later the plan's code is loaded.
  LaunchStatus write_first_contents() {
    const bool watched = request_.sanitizer == SanitizerTool::initcheck;
    if (LaunchStatus s = closed(watched ? initial_.write_from_host() : initial_.write_sources());
        !s)
      return s;
    if (LaunchStatus s = memory_.fill_guards(); !s) return s;
    return watched ? LaunchStatus() : initial_.write_poison();
  }

  LaunchStatus time(Launched& result) {
    TimedWork work;
    work.prepare = [&]() -> LaunchStatus {
      if (LaunchStatus s = closed(initial_.keep_on_device()); !s) return s;
      return request_.chosen.empty() ? tune(gpu_, *program_, work.restore, clock_) : LaunchStatus();
    };
    work.restore = [&]() -> LaunchStatus {
      // The variables are reset, because a kernel could use them to pass results from one sample to
      // the next.
      if (LaunchStatus s = program_->forget(); !s) return s;
      return closed(initial_.restore_async());
    };
    work.enqueue = [&] { return program_->enqueue(); };
    if (request_.stage_next_inputs) work.stage_next_inputs = [&] { return stage_next_inputs(); };
    work.swap_inputs = [&] { return swap_inputs(); };
    work.operations = program_->operations();
    CheckedSample checked(request_.trusted != nullptr && request_.timing->fresh_samples > 0);
    if (request_.returns_outputs) {
      work.sampled = [&](SampleKind kind, std::int64_t index, bool is_last) -> LaunchResult<bool> {
        const CheckedSample::Pause pause = checked.after(kind, index, is_last);
        if (pause == CheckedSample::Pause::none) return false;
        watch_.end(LaunchPart::run);
        const bool is_decoy = pause == CheckedSample::Pause::decoy;
        const LaunchStatus done = closed(return_outputs(result.modified, is_decoy));
        watch_.end(LaunchPart::copy);
        if (!done) return tl::unexpected(done.error());
        return true;
      };
    }
    if (TrustedKernels* trusted = request_.trusted; trusted != nullptr) {
      work.scrub = [trusted] { return trusted->scrub_async(); };
      work.touch = [trusted] { return trusted->touch_async(); };
      work.read_clock = [trusted] { return trusted->read_clock_async(); };
      work.clock_mhz = [trusted] { return trusted->clock_mhz(); };
      work.clear = [trusted](DevicePtr to, std::uint64_t bytes) {
        return trusted->fill_async(to, bytes, 0);
      };
      work.refresh = [trusted] { return trusted->refresh(); };
    }
    LaunchResult<LaunchSamples> samples = take_samples(gpu_, *request_.timing, work, clock_);
    if (!samples) return tl::unexpected(samples.error());
    result.samples = std::move(*samples);
    if (request_.inspect) {
      LaunchResult<Inspection> seen = assay::sandbox::inspect(
          gpu_, *program_, work, {output_buffers(), request_.trusted, result.samples->overhead_ns});
      if (!seen) return tl::unexpected(seen.error());
      result.inspection = std::move(*seen);
    }
    return memory_.check();
  }

  LaunchStatus stage_next_inputs() {
    if (LaunchStatus s = gpu_.synchronize(); !s) return s;
    if (LaunchStatus s = shared_.close(); !s) return s;
    watch_.end(LaunchPart::run);
    if (LaunchStatus s = request_.stage_next_inputs(); !s) return s;
    watch_.skip();  // the judge's time, which is no part of a launch
    LaunchStatus staged = closed(initial_.stage());
    watch_.end(LaunchPart::fill);
    return staged;
  }

  LaunchResult<bool> swap_inputs() {
    if (LaunchStatus s = gpu_.synchronize(); !s) return tl::unexpected(s.error());
    LaunchResult<bool> unseen = initial_.swap_inputs();
    if (LaunchStatus s = shared_.close(); !s && unseen) return tl::unexpected(s.error());
    return unseen;
  }

  /// Returns each buffer that contains an output, without duplicates.
  std::vector<OutputBuffer> output_buffers() const {
    std::set<std::uint32_t> found;
    std::vector<OutputBuffer> outputs;
    for (const PlanOutput& output : plan_.outputs) {
      if (found.insert(output.buffer).second)
        outputs.push_back({buffers_[output.buffer], plan_.buffers[output.buffer].bytes});
    }
    return outputs;
  }

  /// Compares the inputs, and queues the copies of the outputs. The shared memory is mapped once
  /// for both, and stays mapped. A decoy compares the inputs too, and only pretends to copy.
  LaunchStatus return_outputs(std::vector<std::string>& modified, bool is_decoy = false) {
    if (LaunchStatus s = find_modified(modified); !s) return s;
    watch_.end(LaunchPart::check);
    return copy_outputs(is_decoy);
  }

  /// Adds the names of inputs whose contents have changed to `modified`.
  LaunchStatus find_modified(std::vector<std::string>& modified) {
    for (std::size_t i = 0; i < plan_.buffers.size(); ++i) {
      if (plan_.buffers[i].kind != BufferKind::input) continue;
      const std::size_t input = input_of(plan_.buffers[i], shared_);
      if (shared_.inout(input)) continue;
      LaunchResult<bool> same = shared_.same(input, buffers_[i], request_.trusted);
      if (!same) return tl::unexpected(same.error());
      const std::string& name = shared_.name(input);
      if (!*same && std::find(modified.begin(), modified.end(), name) == modified.end())
        modified.push_back(name);
    }
    return {};
  }

  LaunchStatus apply_chosen() {
    if (request_.chosen.empty()) return {};
    for (std::size_t i = 0; i < program_->tunables().size(); ++i) {
      if (i >= request_.chosen.size() || request_.chosen[i] >= program_->tunables()[i].size())
        return launch_fail(LaunchErrorKind::internal_error,
                           "the chosen alternatives do not fit the plan's tunables");
      program_->choose(i, request_.chosen[i]);
    }
    return {};
  }

  /// Closes the shared buffers, because submitted code must not run while they are mapped. Returns
  /// the error of `status`, if it has one, and otherwise the status of close().
  LaunchStatus closed(LaunchStatus status) {
    LaunchStatus end = shared_.close();
    return status ? end : status;
  }

  LaunchStatus copy_outputs(bool is_decoy) {
    for (std::size_t i = 0; i < plan_.outputs.size(); ++i) {
      const PlanOutput& output = plan_.outputs[i];
      const std::uint64_t bytes = output_span_bytes(output).value_or(0);
      const DevicePtr from = buffers_[output.buffer] + output.offset;
      LaunchStatus copied =
          is_decoy ? shared_.pretend_copy_out(offsets_[i], from, bytes, request_.trusted)
                   : shared_.copy_out(offsets_[i], from, bytes, request_.trusted);
      if (!copied) return copied;
    }
    return {};
  }

  const std::uint64_t left_;
  GpuDriver& gpu_;
  const Plan& plan_;
  SharedBuffers& shared_;
  const ReplayRequest& request_;
  const Clock& clock_;
  PartsWatch watch_;
  GuardedMemory memory_;
  InitialState initial_;
  std::vector<std::uint64_t> offsets_;
  std::vector<DevicePtr> buffers_;  // indexed by plan buffer
  std::vector<DevicePtr> scratch_;  // indexed by global scratch parameter
  std::unique_ptr<Program> program_;
};

}  // namespace

LaunchResult<Launched> replay(GpuDriver& gpu, const Plan& plan, SharedBuffers& shared,
                              const ReplayRequest& request, const Clock& clock) {
  if (LaunchStatus s = check(gpu, plan, shared); !s) return tl::unexpected(s.error());
  // A plan that needs more than the device has fails for itself. If the device is full although the
  // plan is within this limit, others use the memory.
  const auto device_bytes = static_cast<std::uint64_t>(gpu.facts().memory_bytes);
  const LaunchResult<std::uint64_t> left =
      check_memory(plan, std::min(request.gpu_memory_bytes, device_bytes));
  if (!left) return tl::unexpected(left.error());
  std::optional<Replay> one(std::in_place, gpu, plan, shared, request, clock, *left);
  LaunchResult<Launched> launched = one->run();
  const LaunchParts parts = one->parts();
  const std::int64_t begin_ns = clock.monotonic_ns();
  one.reset();
  if (!launched) return launched;
  launched->parts = parts;
  launched->parts[LaunchPart::free] +=
      static_cast<double>(clock.monotonic_ns() - begin_ns) / kNsPerMs;
  return launched;
}

}  // namespace assay::sandbox
