#include "sandbox/launcher/replay/inspect.h"

#include <algorithm>
#include <utility>

#include "base/median.h"
#include "sandbox/launcher/timing/cold_state.h"

namespace assay::sandbox {
namespace {

constexpr int kSamples = 5;  // of each operation

/// Frees device memory at the end of the scope.
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
                        TrustedKernels* ours) {
  if (ours != nullptr) return ours->same(a, b, bytes);
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

LaunchResult<std::optional<bool>> twice(GpuDriver& gpu, Program& program, const TimedWork& work,
                                        const std::vector<OutputBuffer>& outputs,
                                        TrustedKernels* ours) {
  std::vector<Copy> copies;
  for (const OutputBuffer& output : outputs) {
    LaunchResult<DevicePtr> memory = gpu.allocate(output.bytes);
    if (!memory && memory.error().kind == LaunchErrorKind::gpu_memory_limit)
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
    LaunchResult<bool> equal = same(gpu, copies[i].at(), outputs[i].at, outputs[i].bytes, ours);
    if (!equal) return tl::unexpected(equal.error());
    if (!*equal) return std::optional<bool>(false);
  }
  return std::optional<bool>(true);
}

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

LaunchResult<Inspection> inspect(GpuDriver& gpu, Program& program, const TimedWork& work,
                                 const std::vector<OutputBuffer>& outputs, TrustedKernels* ours,
                                 double overhead_ns) {
  Inspection seen;
  LaunchResult<std::optional<bool>> equal = twice(gpu, program, work, outputs, ours);
  if (!equal) return tl::unexpected(equal.error());
  seen.deterministic = *equal;
  const std::vector<Program::Operation> sequence = program.sequence();
  if (sequence.size() > kMaxInspected) return seen;
  ColdState cold(gpu);
  if (LaunchStatus s = cold.open(); !s) return tl::unexpected(s.error());
  for (std::size_t i = 0; i < sequence.size(); ++i) {
    std::vector<double> samples;
    for (int k = 0; k < kSamples; ++k) {
      LaunchResult<double> ns = time_of(gpu, program, work, cold, i);
      if (!ns) return tl::unexpected(ns.error());
      samples.push_back(*ns);
    }
    seen.timeline.push_back(
        {sequence[i], std::max(kLeastNs, median_interval(samples).median - overhead_ns)});
  }
  return seen;
}

}  // namespace assay::sandbox
