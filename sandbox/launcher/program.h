// Program: a checked plan made ready to run: its binaries loaded, its parameters checked against what they declare, every buffer
// turned into an address. enqueue() then only makes driver calls, as it is what gets timed.
//
//   LaunchResult<std::unique_ptr<Program>> program = Program::load(gpu, plan, buffers, scratch);
//   (*program)->enqueue();  gpu.synchronize();
//
// Where the plan leaves a choice, the first alternative is taken until answer() says otherwise (sandbox/launcher/tune.h finds out).
//
// Unloads its kernels at its end. Not thread-safe. The plan may go once it is loaded.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
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
  /// A piece of the sequence: one alternative for what is fixed, several for a choice.
  struct Stage {
    std::optional<std::size_t> question;
    std::vector<std::vector<Step>> alternatives;
  };

  explicit Program(GpuDriver& gpu) : gpu_(gpu) {}
  LaunchStatus load_binaries(const Plan& plan);
  LaunchStatus run(const Step& step);
  LaunchStatus run(const std::vector<Step>& steps);
  const std::vector<Step>& chosen(const Stage& stage) const { return stage.alternatives[stage.question ? answers_[*stage.question] : 0]; }
  class Builder;

  GpuDriver& gpu_;
  std::vector<KernelHandle> handles_;  // by binary
  std::vector<KernelUse> uses_;        // by binary; launches are counted when asked for
  std::vector<Stage> stages_;
  std::vector<std::vector<std::string>> questions_;
  std::vector<std::size_t> answers_;  // by question
  std::vector<std::size_t> first_;    // by question: the stage that asks it first
};

}  // namespace assay::sandbox
