#include "sandbox/launcher/replay/trials.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "base/median.h"
#include "sandbox/launcher/timing/timing.h"

namespace assay::sandbox {
namespace {

constexpr std::int64_t kNsPerMs = 1'000'000;

class Tuner {
 public:
  Tuner(GpuDriver& gpu, Program& program, const std::function<LaunchStatus()>& restore,
        const Clock& clock)
      : gpu_(gpu),
        program_(program),
        restore_(restore),
        clock_(clock),
        end_(clock.monotonic_ns() + kMaxTuneMs * kNsPerMs) {}

  /// Chooses the fastest alternative of one tunable.
  LaunchStatus choose(std::size_t tunable) {
    std::optional<double> best;
    std::optional<LaunchError> refusal;
    for (std::size_t i = 0; i < program_.tunables()[tunable].size(); ++i) {
      if (best && clock_.monotonic_ns() >= end_) break;
      LaunchResult<double> ns = time(tunable, i, best);
      if (!ns && ns.error().kind != LaunchErrorKind::launch_failure)
        return tl::unexpected(ns.error());
      if (!ns) {
        refusal = ns.error();
      } else if (!best || *ns < *best) {
        best = *ns;
        program_.choose(tunable, i);
      }
    }
    if (!best && refusal) return tl::unexpected(*refusal);
    return {};
  }

 private:
  LaunchResult<double> time(std::size_t tunable, std::size_t alternative,
                            std::optional<double> best) {
    LaunchResult<double> first = sample(tunable, alternative);
    if (!first || (best && *first > kClearlySlower * *best)) return first;
    std::vector<double> samples;
    for (std::int64_t i = 0; i < kTuneSamples; ++i) {
      LaunchResult<double> ns = sample(tunable, alternative);
      if (!ns) return ns;
      samples.push_back(*ns);
    }
    return median_interval(samples).median;
  }

  LaunchResult<double> sample(std::size_t tunable, std::size_t alternative) {
    if (LaunchStatus s = restore_(); !s) return tl::unexpected(s.error());
    if (LaunchStatus s = program_.enqueue_before(tunable); !s) return tl::unexpected(s.error());
    if (LaunchStatus s = gpu_.synchronize(); !s) return tl::unexpected(s.error());
    const auto enqueue = [&] { return program_.enqueue_alternative(tunable, alternative); };
    if (LaunchStatus s = queue_timed(gpu_, program_.operations(), enqueue); !s)
      return tl::unexpected(s.error());
    if (LaunchStatus s = gpu_.synchronize(); !s) return tl::unexpected(s.error());
    return gpu_.elapsed_ns();
  }

  GpuDriver& gpu_;
  Program& program_;
  const std::function<LaunchStatus()>& restore_;
  const Clock& clock_;
  std::int64_t end_;
};

constexpr int kSamplesPerOperation = 5;

/// Owns an allocation of device memory.
class Copy {
 public:
  Copy(GpuDriver& gpu, DevicePtr at) : gpu_(gpu), at_(at) {}
  Copy(const Copy&) = delete;
  Copy& operator=(const Copy&) = delete;
  Copy(Copy&& other) noexcept : gpu_(other.gpu_), at_(std::exchange(other.at_, 0)) {}
  ~Copy() {
    if (at_ != 0) gpu_.free(at_);
  }
  DevicePtr at() const { return at_; }

 private:
  GpuDriver& gpu_;
  DevicePtr at_;
};

LaunchResult<bool> same(GpuDriver& gpu, DevicePtr a, DevicePtr b, std::uint64_t bytes,
                        TrustedKernels* trusted) {
  if (trusted != nullptr) return trusted->same(a, b, bytes);
  std::vector<std::byte> first(bytes), second(bytes);
  if (LaunchStatus s = gpu.read(first, a); !s) return tl::unexpected(s.error());
  if (LaunchStatus s = gpu.read(second, b); !s) return tl::unexpected(s.error());
  return first == second;
}

LaunchStatus run_once(GpuDriver& gpu, Program& program, const TimedWork& work) {
  if (LaunchStatus s = work.restore(); !s) return s;
  if (LaunchStatus s = program.enqueue(); !s) return s;
  return gpu.synchronize();
}

/// Runs the program twice and compares the outputs bit by bit. Returns nothing if there is too
/// little device memory for the copies.
LaunchResult<std::optional<bool>> same_twice(GpuDriver& gpu, Program& program,
                                             const TimedWork& work, const InspectionRules& rules) {
  const std::vector<OutputBuffer>& outputs = rules.outputs;
  std::vector<Copy> copies;
  for (const OutputBuffer& output : outputs) {
    LaunchResult<DevicePtr> memory = gpu.allocate(output.bytes);
    if (!memory && memory.error().kind == LaunchErrorKind::device_full)
      return std::optional<bool>();
    if (!memory) return tl::unexpected(memory.error());
    copies.emplace_back(gpu, *memory);
  }
  if (LaunchStatus s = run_once(gpu, program, work); !s) return tl::unexpected(s.error());
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    if (LaunchStatus s = gpu.copy_async(copies[i].at(), outputs[i].at, outputs[i].bytes); !s)
      return tl::unexpected(s.error());
  }
  if (LaunchStatus s = run_once(gpu, program, work); !s) return tl::unexpected(s.error());
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    LaunchResult<bool> equal =
        same(gpu, copies[i].at(), outputs[i].at, outputs[i].bytes, rules.trusted);
    if (!equal) return tl::unexpected(equal.error());
    if (!*equal) return std::optional<bool>(false);
  }
  return std::optional<bool>(true);
}

/// Times one operation of the program. The operations before it run untimed.
LaunchResult<double> time_of(GpuDriver& gpu, Program& program, const TimedWork& work,
                             ColdState& cold, std::size_t operation) {
  if (LaunchStatus s = cold.make(work); !s) return tl::unexpected(s.error());
  const auto before = [&] { return program.enqueue_range(0, operation); };
  const auto timed = [&] { return program.enqueue_range(operation, operation + 1); };
  if (LaunchStatus s = queue_timed(gpu, operation + 1, timed, before); !s)
    return tl::unexpected(s.error());
  if (LaunchStatus s = gpu.synchronize(); !s) return tl::unexpected(s.error());
  return gpu.elapsed_ns();
}

}  // namespace

LaunchStatus tune(GpuDriver& gpu, Program& program, const std::function<LaunchStatus()>& restore,
                  const Clock& clock) {
  Tuner tuner(gpu, program, restore, clock);
  for (std::size_t tunable = 0; tunable < program.tunables().size(); ++tunable) {
    if (LaunchStatus s = tuner.choose(tunable); !s) return s;
  }
  return {};
}

LaunchResult<Inspection> inspect(GpuDriver& gpu, Program& program, const TimedWork& work,
                                 const InspectionRules& rules) {
  Inspection seen;
  LaunchResult<std::optional<bool>> equal = same_twice(gpu, program, work, rules);
  if (!equal) return tl::unexpected(equal.error());
  seen.deterministic = *equal;
  std::vector<OperationTime> sequence = program.sequence();
  if (sequence.size() > kMaxInspected) return seen;
  ColdState cold(gpu);
  if (LaunchStatus s = cold.open(); !s) return tl::unexpected(s.error());
  for (std::size_t i = 0; i < sequence.size(); ++i) {
    std::vector<double> samples;
    for (int k = 0; k < kSamplesPerOperation; ++k) {
      LaunchResult<double> ns = time_of(gpu, program, work, cold, i);
      if (!ns) return tl::unexpected(ns.error());
      samples.push_back(*ns);
    }
    sequence[i].ns = std::max(kLeastNs, median_interval(samples).median - rules.overhead_ns);
  }
  seen.timeline = std::move(sequence);
  return seen;
}

}  // namespace assay::sandbox
