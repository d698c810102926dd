// Program is a checked plan that is ready to run. Its binaries are loaded, its parameters match the
// parameters that the binaries declare, and every buffer has an address. enqueue() only makes
// driver calls, because it is timed.
//
//   LaunchResult<std::unique_ptr<Program>> program = Program::load(gpu, plan, buffers, scratch);
//   LaunchStatus queued = (*program)->enqueue();
//   LaunchStatus done = gpu.synchronize();
//
// Each choice uses its first alternative until choose() sets another alternative. tune() finds the
// fastest alternatives. The destructor unloads the kernels. The plan need not outlive load(). Not
// thread-safe.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "sandbox/launcher/driver/gpu_driver.h"
#include "sandbox/launcher/plan/layout.h"
#include "sandbox/launcher/plan/plan.h"
#include "sandbox/wire/launched.h"

namespace assay::sandbox {

class Program {
 public:
  /// Loads the plan's binaries. `buffers` contains the address of each buffer of the plan.
  /// `scratch` contains one address for each global scratch parameter, in plan order.
  static LaunchResult<std::unique_ptr<Program>> load(GpuDriver& gpu, const Plan& plan,
                                                     const std::vector<DevicePtr>& buffers,
                                                     const std::vector<DevicePtr>& scratch);
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;
  ~Program();

  /// Queues every operation of the plan, in order.
  LaunchStatus enqueue();
  /// Queues only those operations that are not kernels of the submission: fills, copies, and the
  /// recorder's kernels.
  LaunchStatus enqueue_ablated();
  /// Resets the variables that binaries have in device memory. If there are such variables, waits
  /// for the queued work first.
  LaunchStatus forget();
  /// Returns the operations that enqueue() queues with the current alternatives, in order. The
  /// times of the returned operations are 0.
  std::vector<OperationTime> sequence() const;
  /// Queues the operations of sequence() from index `first` up to, but not including, index `last`.
  LaunchStatus enqueue_range(std::size_t first, std::size_t last);
  /// Returns the number of copies in sequence(): copies by the driver and copies by the recorder's
  /// kernels.
  std::int64_t moves() const;
  /// Returns an upper bound of the number of operations that enqueue() queues, whatever
  /// alternatives are chosen.
  std::size_t operations() const;
  /// Returns the resources and the number of launches of each binary, in the plan's order.
  std::vector<KernelUse> kernels() const;

  /// Returns for each tunable the labels of its alternatives. Tunables are in the order of their
  /// first choices in the plan.
  const std::vector<std::vector<std::string>>& tunables() const { return tunables_; }
  void choose(std::size_t tunable, std::size_t alternative) { chosen_[tunable] = alternative; }
  std::size_t chosen(std::size_t tunable) const { return chosen_[tunable]; }
  /// Queues the operations before the first choice of a tunable. Choices among these operations use
  /// their current alternatives.
  LaunchStatus enqueue_before(std::size_t tunable);
  /// Queues one alternative of a tunable's first choice.
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
  /// A binary that has variables in device memory. Loading its image again resets the variables.
  struct Stateful {
    KernelHandle handle;
    PlanBinary binary;
  };
  /// A section of the plan: either consecutive operations without a choice (one alternative and no
  /// tunable), or one choice (several alternatives).
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
  std::vector<KernelHandle> handles_;  // indexed by binary
  std::vector<KernelUse> uses_;        // indexed by binary; kernels() adds the number of launches
  std::vector<Stateful> stateful_;
  std::vector<Stage> stages_;
  std::vector<std::vector<std::string>> tunables_;
  std::vector<std::size_t> chosen_;  // indexed by tunable
  // For each tunable, the index of the stage that contains the tunable's first choice.
  std::vector<std::size_t> first_stage_;
};

}  // namespace assay::sandbox
