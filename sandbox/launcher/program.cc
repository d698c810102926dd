#include "sandbox/launcher/program.h"

#include <utility>

namespace assay::sandbox {
namespace {

ParamValue to_value(const KernelParam& param, const std::vector<DevicePtr>& buffers, const std::vector<DevicePtr>& scratch, std::size_t& next_scratch) {
  if (const auto* scalar = std::get_if<ScalarParam>(&param)) return {scalar->value, scalar->size};
  if (const auto* pointer = std::get_if<PointerParam>(&param)) return {buffers[pointer->buffer] + pointer->offset, sizeof(DevicePtr)};
  if (std::holds_alternative<GlobalScratchParam>(param)) return {scratch[next_scratch++], sizeof(DevicePtr)};
  return {0, sizeof(DevicePtr)};
}

/// The driver copies as many values as the image declares, whatever was passed: a shorter list would make it read our memory.
LaunchStatus check_params(const std::string& what, const KernelFacts& facts, const std::vector<ParamValue>& params) {
  if (!facts.param_bytes) return {};
  if (facts.param_bytes->size() != params.size()) {
    return launch_fail(LaunchErrorKind::invalid_plan,
                       what + " declares " + std::to_string(facts.param_bytes->size()) + " parameters, the plan passes " + std::to_string(params.size()));
  }
  for (std::size_t i = 0; i < params.size(); ++i) {
    if ((*facts.param_bytes)[i] != params[i].bytes) {
      return launch_fail(LaunchErrorKind::invalid_plan, what + ": parameter " + std::to_string(i) + " has " + std::to_string((*facts.param_bytes)[i]) +
                                                            " bytes, the plan passes " + std::to_string(params[i].bytes));
    }
  }
  return {};
}

}  // namespace

Program::~Program() {
  for (const KernelHandle handle : handles_) gpu_.unload(handle);
}

LaunchResult<std::unique_ptr<Program>> Program::load(GpuDriver& gpu, const Plan& plan, const std::vector<DevicePtr>& buffers,
                                                     const std::vector<DevicePtr>& scratch) {
  std::unique_ptr<Program> program(new Program(gpu));
  if (LaunchStatus s = program->load_binaries(plan); !s) return tl::unexpected(s.error());
  std::size_t next_scratch = 0;
  for (const PlanOp& op : plan.ops) {
    if (const auto* kernel = std::get_if<KernelOp>(&op)) {
      if (LaunchStatus s = program->add_launch(*kernel, plan, buffers, scratch, next_scratch); !s) return tl::unexpected(s.error());
    } else if (const auto* fill = std::get_if<FillOp>(&op)) {
      program->steps_.emplace_back(Fill{buffers[fill->buffer] + fill->offset, fill->count, fill->width, fill->pattern});
    } else if (const auto* copy = std::get_if<CopyOp>(&op)) {
      program->steps_.emplace_back(Copy{buffers[copy->dst] + copy->dst_offset, buffers[copy->src] + copy->src_offset, copy->bytes});
    }
  }
  return program;
}

LaunchStatus Program::load_binaries(const Plan& plan) {
  for (const PlanBinary& binary : plan.binaries) {
    LaunchResult<KernelHandle> handle = gpu_.load(binary.image, binary.kernel, binary.shared_bytes);
    if (!handle) return tl::unexpected(handle.error());
    handles_.push_back(*handle);
    const KernelFacts& facts = gpu_.kernel_facts(*handle);
    uses_.push_back({binary.kernel, facts.registers, facts.local_bytes, facts.static_shared_bytes + binary.shared_bytes, 0});
  }
  return {};
}

LaunchStatus Program::add_launch(const KernelOp& op, const Plan& plan, const std::vector<DevicePtr>& buffers, const std::vector<DevicePtr>& scratch,
                                 std::size_t& next_scratch) {
  Launch launch;
  launch.kernel = handles_[op.binary];
  launch.what = "kernel '" + plan.binaries[op.binary].kernel + "'";
  launch.shape = {
      op.grid, op.block, op.cluster, plan.binaries[op.binary].shared_bytes, (op.flags & kFlagCooperative) != 0, (op.flags & kFlagDependentLaunch) != 0};
  for (const KernelParam& param : op.params) launch.params.push_back(to_value(param, buffers, scratch, next_scratch));
  if (LaunchStatus s = check_params(launch.what, gpu_.kernel_facts(launch.kernel), launch.params); !s) return s;
  ++uses_[op.binary].launches;
  steps_.emplace_back(std::move(launch));
  return {};
}

LaunchStatus Program::enqueue() {
  for (const Step& step : steps_) {
    if (LaunchStatus s = run(step); !s) return s;
  }
  return {};
}

LaunchStatus Program::run(const Step& step) {
  if (const auto* launch = std::get_if<Launch>(&step)) {
    LaunchStatus s = gpu_.launch_async(launch->kernel, launch->shape, launch->params);
    // A fault that shows here is that of an earlier kernel, which the driver does not name.
    if (!s && s.error().kind != LaunchErrorKind::gpu_fault) return launch_fail(s.error().kind, launch->what + ": " + s.error().message);
    return s;
  }
  if (const auto* fill = std::get_if<Fill>(&step)) return gpu_.fill_async(fill->to, fill->count, fill->width, fill->pattern);
  const Copy& copy = std::get<Copy>(step);
  return gpu_.copy_async(copy.to, copy.from, copy.bytes);
}

}  // namespace assay::sandbox
