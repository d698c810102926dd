// Program is a checked plan that is ready to run: its binaries are loaded, its parameters are
// checked against the ones that the binaries declare, and every buffer is an address. enqueue()
// makes nothing but driver calls, because it is timed.
//
//   LaunchResult<std::unique_ptr<Program>> program = Program::load(gpu, plan, buffers, scratch);
//   LaunchStatus queued = (*program)->enqueue();
//   LaunchStatus done = gpu.synchronize();
//
// A choice takes its first alternative until choose() sets another (tune() finds the fastest). The
// destructor unloads the kernels. The plan need not outlive load(). Not thread-safe.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "sandbox/launcher/driver/gpu_driver.h"
#include "sandbox/launcher/plan/plan.h"
#include "sandbox/wire/launched.h"

namespace assay::sandbox {

/// Returns true for a kernel of the recorder, which copies and casts in place of torch's kernels. A
/// submission gains nothing by giving its own kernel such a name: the kernel then does not count as
/// its work.
inline bool is_recorder_kernel(std::string_view kernel) { return kernel.starts_with("assay_"); }

class Program {
 public:
  /// `buffers` has the address of each of the plan's buffers, and `scratch` the address for each
  /// global scratch parameter in plan order.
  static LaunchResult<std::unique_ptr<Program>> load(GpuDriver& gpu, const Plan& plan,
                                                     const std::vector<DevicePtr>& buffers,
                                                     const std::vector<DevicePtr>& scratch);
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;
  ~Program();

  /// Queues every operation, in order.
  LaunchStatus enqueue();
  /// Queues the operations without the submission's kernels: fills, copies, and the recorder's own
  /// kernels.
  LaunchStatus enqueue_ablated();
  /// Resets the variables that binaries keep on the device. If there are any, it waits for the
  /// queued work first.
  LaunchStatus forget();
  /// Returns the operations that enqueue() queues now, in order. Their times are 0.
  std::vector<OperationTime> sequence() const;
  /// Queues operations `first` to `last` (excluded) of that sequence.
  LaunchStatus enqueue_range(std::size_t first, std::size_t last);
  /// Returns the number of operations that enqueue() queues now and that are copies, by the driver
  /// or by the recorder's kernels.
  std::int64_t moves() const;
  /// Returns the greatest number of operations that enqueue() can queue.
  std::size_t operations() const;
  /// Returns one entry for each of the plan's binaries, in order.
  std::vector<KernelUse> kernels() const;

  /// Returns the labels of the alternatives of each tunable. The tunables are in the order of their
  /// first choices in the plan.
  const std::vector<std::vector<std::string>>& tunables() const { return tunables_; }
  void choose(std::size_t tunable, std::size_t alternative) { chosen_[tunable] = alternative; }
  std::size_t chosen(std::size_t tunable) const { return chosen_[tunable]; }
  /// Queues the operations before the first choice of a tunable, with the alternatives chosen so
  /// far.
  LaunchStatus enqueue_before(std::size_t tunable);
  /// Queues one alternative of the first choice of a tunable.
  LaunchStatus enqueue_alternative(std::size_t tunable, std::size_t alternative);

 private:
  struct Launch {
    std::uint32_t binary;
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
  /// A binary with variables of its own, and the data that reloads it.
  struct Stateful {
    KernelHandle handle;
    PlanBinary binary;
  };
  /// A part of the sequence: fixed operations have one alternative and no tunable, a choice has
  /// several alternatives.
  struct Stage {
    std::optional<std::size_t> tunable;
    std::vector<std::vector<Step>> alternatives;
  };

  explicit Program(GpuDriver& gpu) : gpu_(gpu) {}
  LaunchStatus load_binaries(const Plan& plan);
  LaunchStatus run(const Step& step);
  LaunchStatus run(const std::vector<Step>& steps);
  const std::vector<Step>& steps_of(const Stage& stage) const {
    return stage.alternatives[stage.tunable ? chosen_[*stage.tunable] : 0];
  }
  class Builder;

  GpuDriver& gpu_;
  std::vector<KernelHandle> handles_;  // by binary
  std::vector<KernelUse> uses_;        // by binary; kernels() counts the launches
  std::vector<Stateful> stateful_;
  std::vector<Stage> stages_;
  std::vector<std::vector<std::string>> tunables_;
  std::vector<std::size_t> chosen_;       // by tunable
  std::vector<std::size_t> first_stage_;  // by tunable: the stage of its first choice
};

}  // namespace assay::sandbox
