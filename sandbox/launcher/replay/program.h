// Program: a checked plan made ready to run: its binaries loaded, its parameters checked against
// what they declare, every buffer turned into an address. enqueue() then only makes driver calls,
// as it is what gets timed.
//
//   LaunchResult<std::unique_ptr<Program>> program = Program::load(gpu, plan, buffers, scratch);
//   (*program)->enqueue();  gpu.synchronize();
//
// Where the plan leaves a choice, the first alternative is taken until answer() says otherwise
// (sandbox/launcher/replay/tune.h finds out).
//
// Unloads its kernels at its end. Not thread-safe. The plan may go once it is loaded.
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

namespace assay::sandbox {

/// The recorder's kernels, which copy and cast for torch. A plan that gives its own kernel such a
/// name only loses by it.
inline bool is_ours(std::string_view kernel) { return kernel.starts_with("assay_"); }

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
  /// `buffers`: the address of each of the plan's buffers. `scratch`: the address for each global
  /// scratch parameter, in plan order.
  static LaunchResult<std::unique_ptr<Program>> load(GpuDriver& gpu, const Plan& plan,
                                                     const std::vector<DevicePtr>& buffers,
                                                     const std::vector<DevicePtr>& scratch);
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;
  ~Program();

  /// Queues every operation, in order.
  LaunchStatus enqueue();
  /// The same without the submission's kernels: fills, copies, and kernels of ours that copy for
  /// torch.
  LaunchStatus enqueue_ablated();
  /// Gives variables that binaries keep on the device their first values. Waits for what was queued
  /// where there are such.
  LaunchStatus forget();
  struct Operation {
    std::string name;        // the kernel's, "copy" or "fill"
    bool submitted = false;  // a kernel of the submission's
  };
  /// What enqueue() queues now, in order.
  std::vector<Operation> sequence() const;
  /// Queues operations `first` to `last` (excluded) of that sequence.
  LaunchStatus enqueue_range(std::size_t first, std::size_t last);
  /// How many operations enqueue() queues now that are copies, by the driver or by kernels of ours.
  std::int64_t moves() const;
  /// How many enqueue() queues, at most.
  std::size_t operations() const;
  /// One for each of the plan's binaries, in order.
  std::vector<KernelUse> kernels() const;

  /// What the plan asks, in the order of first asking: the labels of the alternatives.
  const std::vector<std::vector<std::string>>& questions() const { return questions_; }
  void answer(std::size_t question, std::size_t alternative) { answers_[question] = alternative; }
  std::size_t answer_of(std::size_t question) const { return answers_[question]; }
  /// Queues what comes before a question's first asking, by the answers so far.
  LaunchStatus enqueue_before(std::size_t question);
  /// Queues one alternative of a question's first asking.
  LaunchStatus enqueue_alternative(std::size_t question, std::size_t alternative);

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
  /// A binary with variables of its own, and what it takes to load it again.
  struct Stateful {
    KernelHandle handle;
    PlanBinary binary;
  };
  /// A piece of the sequence: one alternative for what is fixed, several for a choice.
  struct Stage {
    std::optional<std::size_t> question;
    std::vector<std::vector<Step>> alternatives;
  };

  explicit Program(GpuDriver& gpu) : gpu_(gpu) {}
  LaunchStatus load_binaries(const Plan& plan);
  LaunchStatus run(const Step& step);
  LaunchStatus run(const std::vector<Step>& steps);
  const std::vector<Step>& chosen(const Stage& stage) const {
    return stage.alternatives[stage.question ? answers_[*stage.question] : 0];
  }
  class Builder;

  GpuDriver& gpu_;
  std::vector<KernelHandle> handles_;  // by binary
  std::vector<KernelUse> uses_;        // by binary; launches are counted when asked for
  std::vector<Stateful> stateful_;
  std::vector<Stage> stages_;
  std::vector<std::vector<std::string>> questions_;
  std::vector<std::size_t> answers_;  // by question
  std::vector<std::size_t> first_;    // by question: the stage that asks it first
};

}  // namespace assay::sandbox
