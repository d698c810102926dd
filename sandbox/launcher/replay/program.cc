#include "sandbox/launcher/replay/program.h"

#include <algorithm>
#include <map>
#include <utility>

#include "sandbox/launcher/plan/plan_check.h"

namespace assay::sandbox {
namespace {

/// Checks the number and the sizes of the parameters. The driver copies as many values as the image
/// declares. If the plan contained fewer parameters, the driver would read other memory of this
/// process.
LaunchStatus check_params(const std::string& what, const KernelFacts& facts,
                          const std::vector<ParamValue>& params) {
  if (!facts.param_bytes) return {};
  if (facts.param_bytes->size() != params.size()) {
    return launch_fail(LaunchErrorKind::invalid_plan,
                       what + " declares " + std::to_string(facts.param_bytes->size()) +
                           " parameters, the plan passes " + std::to_string(params.size()));
  }
  for (std::size_t i = 0; i < params.size(); ++i) {
    if ((*facts.param_bytes)[i] != params[i].bytes) {
      return launch_fail(LaunchErrorKind::invalid_plan,
                         what + ": parameter " + std::to_string(i) + " has " +
                             std::to_string((*facts.param_bytes)[i]) + " bytes, the plan passes " +
                             std::to_string(params[i].bytes));
    }
  }
  return {};
}

}  // namespace

Program::~Program() {
  for (const KernelHandle handle : handles_) gpu_.unload(handle);
}

/// Turns the plan's operations into steps. In a step, an address replaces the number of a buffer. A
/// Builder exists only during load().
class Program::Builder {
 public:
  Builder(Program& program, const Plan& plan, const std::vector<DevicePtr>& buffers,
          const std::vector<DevicePtr>& scratch)
      : program_(program), plan_(plan), buffers_(buffers), scratch_(scratch) {}

  LaunchStatus build() {
    for (const PlanOp& op : plan_.ops) {
      if (LaunchStatus s = std::visit([&](const auto& one) { return place(one); }, op); !s)
        return s;
    }
    return {};
  }

 private:
  template <class Op>
  LaunchStatus place(const Op& op) {
    if (program_.stages_.empty() || program_.stages_.back().tunable)
      program_.stages_.push_back({std::nullopt, {{}}});
    return add(op, program_.stages_.back().alternatives[0]);
  }
  LaunchStatus place(const ChoiceOp& op) {
    const auto [number, is_new] = numbers_.emplace(op.tunable, program_.tunables_.size());
    if (is_new) {
      program_.tunables_.emplace_back();
      for (const Alternative& alternative : op.alternatives)
        program_.tunables_.back().push_back(alternative.label);
      program_.chosen_.push_back(0);
      program_.first_stage_.push_back(program_.stages_.size());
    }
    Stage stage{number->second, {}};
    for (const Alternative& alternative : op.alternatives) {
      std::vector<Step>& steps = stage.alternatives.emplace_back();
      for (const SimpleOp& one : alternative.ops) {
        if (LaunchStatus s =
                std::visit([&](const auto& simple) { return add(simple, steps); }, one);
            !s)
          return s;
      }
    }
    program_.stages_.push_back(std::move(stage));
    return {};
  }

  LaunchStatus add(const KernelOp& op, std::vector<Step>& to) {
    Launch launch;
    launch.binary = op.binary;
    launch.kernel = program_.handles_[op.binary];
    launch.what = "kernel '" + plan_.binaries[op.binary].kernel + "'";
    launch.shape = {op.grid,
                    op.block,
                    op.cluster,
                    plan_.binaries[op.binary].shared_bytes,
                    (op.flags & kFlagCooperative) != 0,
                    (op.flags & kFlagDependentLaunch) != 0};
    for (const KernelParam& param : op.params) {
      LaunchResult<ParamValue> value = to_value(param);
      if (!value)
        return launch_fail(value.error().kind, launch.what + ": " + value.error().message);
      launch.params.push_back(std::move(*value));
    }
    if (LaunchStatus s =
            check_params(launch.what, program_.gpu_.kernel_facts(launch.kernel), launch.params);
        !s)
      return s;
    to.emplace_back(std::move(launch));
    return {};
  }
  LaunchStatus add(const FillOp& op, std::vector<Step>& to) {
    to.emplace_back(Fill{buffers_[op.buffer] + op.offset, op.count, op.width, op.pattern});
    return {};
  }
  LaunchStatus add(const CopyOp& op, std::vector<Step>& to) {
    to.emplace_back(
        Copy{buffers_[op.dst] + op.dst_offset, buffers_[op.src] + op.src_offset, op.bytes});
    return {};
  }

  LaunchResult<ParamValue> to_value(const KernelParam& param) {
    if (const auto* scalar = std::get_if<ScalarParam>(&param))
      return ParamValue{scalar->value, scalar->size};
    if (const auto* pointer = std::get_if<PointerParam>(&param))
      return ParamValue{buffers_[pointer->buffer] + pointer->offset, sizeof(DevicePtr)};
    if (std::holds_alternative<GlobalScratchParam>(param))
      return ParamValue{scratch_[next_scratch_++], sizeof(DevicePtr)};
    const auto* map = std::get_if<TensorMapParam>(&param);
    if (map == nullptr) return ParamValue{0, sizeof(DevicePtr)};
    LaunchResult<TensorMap> encoded = program_.gpu_.encode_tensor_map(
        {buffers_[map->buffer] + map->offset, map->type, map->swizzle, map->nan_outside != 0,
         map->shape, map->strides, map->box});
    if (!encoded) return tl::unexpected(encoded.error());
    return ParamValue{0, sizeof(TensorMap), std::make_shared<const TensorMap>(*encoded)};
  }

  Program& program_;
  const Plan& plan_;
  const std::vector<DevicePtr>& buffers_;
  const std::vector<DevicePtr>& scratch_;
  std::size_t next_scratch_ = 0;
  // Maps a tunable's number in the plan to its number in the program.
  std::map<std::uint32_t, std::size_t> numbers_;
};

LaunchResult<std::unique_ptr<Program>> Program::load(GpuDriver& gpu, const Plan& plan,
                                                     const std::vector<DevicePtr>& buffers,
                                                     const std::vector<DevicePtr>& scratch) {
  std::unique_ptr<Program> program(new Program(gpu));
  if (LaunchStatus s = program->load_binaries(plan); !s) return tl::unexpected(s.error());
  if (LaunchStatus s = Builder(*program, plan, buffers, scratch).build(); !s)
    return tl::unexpected(s.error());
  return program;
}

LaunchStatus Program::load_binaries(const Plan& plan) {
  for (const PlanBinary& binary : plan.binaries) {
    LaunchResult<KernelHandle> handle = gpu_.load(binary.image, binary.kernel, binary.shared_bytes);
    if (!handle) return tl::unexpected(handle.error());
    handles_.push_back(*handle);
    if (writable_globals(binary.image) > 0) stateful_.push_back({*handle, binary});
    const KernelFacts& facts = gpu_.kernel_facts(*handle);
    if (facts.local_bytes > 0 || has_device_functions(binary.image)) {
      if (LaunchStatus s = gpu_.reserve_stacks(); !s) return s;
    }
    uses_.push_back({binary.kernel, facts.registers, facts.local_bytes,
                     facts.static_shared_bytes + binary.shared_bytes, 0});
  }
  return {};
}

std::size_t Program::operations() const {
  std::size_t total = 0;
  for (const Stage& stage : stages_) {
    std::size_t most = 0;
    for (const std::vector<Step>& steps : stage.alternatives) most = std::max(most, steps.size());
    total += most;
  }
  return total;
}

std::vector<KernelUse> Program::kernels() const {
  std::vector<KernelUse> uses = uses_;
  for (const Stage& stage : stages_) {
    for (const Step& step : steps_of(stage)) {
      if (const auto* launch = std::get_if<Launch>(&step)) ++uses[launch->binary].launches;
    }
  }
  return uses;
}

LaunchStatus Program::enqueue() {
  for (const Stage& stage : stages_) {
    if (LaunchStatus s = run(steps_of(stage)); !s) return s;
  }
  return {};
}

LaunchStatus Program::enqueue_ablated() {
  for (const Stage& stage : stages_) {
    for (const Step& step : steps_of(stage)) {
      const auto* launch = std::get_if<Launch>(&step);
      if (launch != nullptr && !is_recorder_kernel(uses_[launch->binary].name)) continue;
      if (LaunchStatus s = run(step); !s) return s;
    }
  }
  return {};
}

std::vector<OperationTime> Program::sequence() const {
  std::vector<OperationTime> operations;
  for (const Stage& stage : stages_) {
    for (const Step& step : steps_of(stage)) {
      if (const auto* launch = std::get_if<Launch>(&step); launch != nullptr) {
        const std::string& name = uses_[launch->binary].name;
        operations.push_back({.name = name, .submitted = !is_recorder_kernel(name)});
      } else {
        operations.push_back({.name = std::holds_alternative<Copy>(step) ? "copy" : "fill"});
      }
    }
  }
  return operations;
}

LaunchStatus Program::enqueue_range(std::size_t first, std::size_t last) {
  std::size_t i = 0;
  for (const Stage& stage : stages_) {
    for (const Step& step : steps_of(stage)) {
      const std::size_t at = i++;
      if (at < first || at >= last) continue;
      if (LaunchStatus s = run(step); !s) return s;
    }
  }
  return {};
}

std::int64_t Program::moves() const {
  std::int64_t moves = 0;
  for (const Stage& stage : stages_) {
    for (const Step& step : steps_of(stage)) {
      const auto* launch = std::get_if<Launch>(&step);
      moves += std::holds_alternative<Copy>(step) ||
                       (launch != nullptr && is_recorder_kernel(uses_[launch->binary].name))
                   ? 1
                   : 0;
    }
  }
  return moves;
}

LaunchStatus Program::forget() {
  for (const Stateful& one : stateful_) {
    if (LaunchStatus s =
            gpu_.reload(one.handle, one.binary.image, one.binary.kernel, one.binary.shared_bytes);
        !s)
      return s;
  }
  return {};
}

LaunchStatus Program::enqueue_before(std::size_t tunable) {
  for (std::size_t i = 0; i < first_stage_[tunable]; ++i) {
    if (LaunchStatus s = run(steps_of(stages_[i])); !s) return s;
  }
  return {};
}

LaunchStatus Program::enqueue_alternative(std::size_t tunable, std::size_t alternative) {
  return run(stages_[first_stage_[tunable]].alternatives[alternative]);
}

LaunchStatus Program::run(const std::vector<Step>& steps) {
  for (const Step& step : steps) {
    if (LaunchStatus s = run(step); !s) return s;
  }
  return {};
}

LaunchStatus Program::run(const Step& step) {
  if (const auto* launch = std::get_if<Launch>(&step)) {
    LaunchStatus s = gpu_.launch_async(launch->kernel, launch->shape, launch->params);
    // If a launch reports a fault, an earlier kernel caused the fault. The driver does not name
    // that kernel, so the message names no kernel.
    if (!s && s.error().kind != LaunchErrorKind::gpu_fault)
      return launch_fail(s.error().kind, launch->what + ": " + s.error().message);
    return s;
  }
  if (const auto* fill = std::get_if<Fill>(&step))
    return gpu_.fill_async(fill->to, fill->count, fill->width, fill->pattern);
  const Copy& copy = std::get<Copy>(step);
  return gpu_.copy_async(copy.to, copy.from, copy.bytes);
}

}  // namespace assay::sandbox
