// Program: a checked plan made ready to run: its binaries loaded, its parameters checked against what they declare, every buffer
// turned into an address. enqueue() then only makes driver calls, as it is what gets timed.
//
//   LaunchResult<std::unique_ptr<Program>> program = Program::load(gpu, plan, buffers, scratch);
//   (*program)->enqueue();  gpu.synchronize();
//
// Unloads its kernels at its end. Not thread-safe. The plan may go once it is loaded.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "sandbox/launcher/gpu_driver.h"
#include "sandbox/launcher/plan.h"

namespace assay::sandbox {

/// What the plan's binary turned out to be on this device.
struct KernelUse {
  std::string name;
  std::int64_t registers = 0;
  std::int64_t local_bytes = 0;
  std::int64_t shared_bytes = 0;  // static and dynamic, per block
  std::int64_t launches = 0;
};

class Program {
 public:
  /// `buffers`: the address of each of the plan's buffers. `scratch`: the address for each global scratch parameter, in plan order.
  static LaunchResult<std::unique_ptr<Program>> load(GpuDriver& gpu, const Plan& plan, const std::vector<DevicePtr>& buffers,
                                                     const std::vector<DevicePtr>& scratch);
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;
  ~Program();

  /// Queues every operation, in order.
  LaunchStatus enqueue();
  std::size_t operations() const { return steps_.size(); }
  /// One for each of the plan's binaries, in order.
  const std::vector<KernelUse>& kernels() const { return uses_; }

 private:
  struct Launch {
    KernelHandle kernel;
    std::string what;
    LaunchShape shape;
    std::vector<ParamValue> params;
  };
  struct Fill {
    DevicePtr to;
    std::uint64_t count;
    std::uint32_t width;
    std::uint64_t pattern;
  };
  struct Copy {
    DevicePtr to, from;
    std::uint64_t bytes;
  };
  using Step = std::variant<Launch, Fill, Copy>;

  explicit Program(GpuDriver& gpu) : gpu_(gpu) {}
  LaunchStatus load_binaries(const Plan& plan);
  LaunchStatus add_launch(const KernelOp& op, const Plan& plan, const std::vector<DevicePtr>& buffers, const std::vector<DevicePtr>& scratch,
                          std::size_t& next_scratch);
  LaunchStatus run(const Step& step);

  GpuDriver& gpu_;
  std::vector<KernelHandle> handles_;  // by binary
  std::vector<KernelUse> uses_;        // by binary
  std::vector<Step> steps_;
};

}  // namespace assay::sandbox
