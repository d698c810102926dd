// FakeDriver implements GpuDriver in host memory, so that the whole launcher runs without a GPU
// (`--driver fake`, and in tests).
//
//   FakeDriver gpu;
//   gpu.add_kernel("clear_byte", {8}, [](FakeLaunch& launch) -> LaunchStatus {
//     *launch.memory(0, 0, 1) = std::byte{0};
//     return {};
//   });
//   const std::size_t launches = gpu.launches().size();  // 0 so far
//
// Copies and fills are performed at once, and only inside allocations. An address outside of all
// allocations is an illegal address and makes the context unusable, as on a GPU. Every launch is
// recorded. If a C++ function with the kernel's name was added, the launch also calls this
// function. Device time is simulated: each operation takes a fixed time plus a time for each byte,
// and each launch adds a small deterministic jitter. Not thread-safe.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "sandbox/launcher/driver/gpu_driver.h"
#include "sandbox/wire/memfd.h"

namespace assay::sandbox {

class FakeDriver;

/// The arguments and the memory of a launch, as a fake kernel sees them.
struct FakeLaunch {
  FakeDriver& gpu;
  LaunchShape shape;
  std::vector<ParamValue> params;

  // A variable that the kernel's image declares on the device. It is 0 after the image is loaded.
  std::uint64_t& variable;

  /// Returns the host address of `bytes` bytes of device memory. The range begins `offset` bytes
  /// after the address in parameter number `param`. Returns null if no allocation contains the
  /// range.
  std::byte* memory(std::size_t param, std::int64_t offset, std::uint64_t bytes) const;
};

using FakeKernel = std::function<LaunchStatus(FakeLaunch&)>;

class FakeDriver : public GpuDriver {
 public:
  static constexpr std::uint64_t kDefaultMemoryBytes = 1ULL << 30;

  explicit FakeDriver(std::uint64_t memory_bytes = kDefaultMemoryBytes);

  /// Makes kernels with this name run `body`. `param_bytes` contains the sizes of the parameters
  /// that a real image would declare.
  void add_kernel(const std::string& name, std::vector<std::size_t> param_bytes, FakeKernel body);

  struct Record {
    std::string kernel;
    LaunchShape shape;
    std::vector<ParamValue> params;
  };
  const std::vector<Record>& launches() const { return launches_; }
  std::uint64_t allocated_bytes() const { return allocated_; }
  /// Returns the number of mappings that are not hidden.
  std::size_t shared_mappings() const { return shared_.size(); }
  /// Returns the number of mappings that are hidden.
  std::size_t hidden_mappings() const { return hidden_.size(); }
  /// Returns the numbers of calls so far.
  struct Calls {
    std::int64_t allocations = 0, maps = 0, shows = 0;
  };
  const Calls& calls() const { return calls_; }
  std::size_t loaded_kernels() const;
  bool stacks_reserved() const { return stacks_reserved_; }
  /// Sets the device time of kernels with this name.
  void set_kernel_ns(const std::string& name, double ns) { kernel_ns_[name] = ns; }
  /// Sets the local memory per thread of kernels with this name.
  void set_local_bytes(const std::string& name, std::int64_t bytes) { local_bytes_[name] = bytes; }
  /// Makes all later calls fail, as on a GPU that does not respond on the bus.
  void lose_memory() {
    lost_ = LaunchError{LaunchErrorKind::internal_error,
                        "FAKE_ERROR_DEVICE_UNAVAILABLE (the device is gone)"};
  }
  /// Makes prefers_one_allocation() true, as with CUDA.
  void prefer_one_allocation() { prefers_one_allocation_ = true; }
  /// Reduces the free memory to `bytes`, as if other processes had allocated the rest.
  void leave_memory(std::uint64_t bytes) {
    taken_ = static_cast<std::uint64_t>(facts_.memory_bytes) - bytes;
  }
  /// Returns the host memory behind a range of device memory, or null if no allocation contains the
  /// range.
  std::byte* translate(DevicePtr address, std::uint64_t bytes);

  const DeviceFacts& facts() const override { return facts_; }
  LaunchResult<DevicePtr> allocate(std::uint64_t bytes) override;
  void free(DevicePtr memory) override;
  bool prefers_one_allocation() const override { return prefers_one_allocation_; }
  /// Accepts a memory file (memfd) in place of shared device memory.
  LaunchResult<DevicePtr> map_shared(int fd, std::uint64_t bytes) override;
  LaunchStatus unmap_shared(DevicePtr memory) override;
  LaunchStatus hide_shared(DevicePtr memory) override;
  LaunchStatus show_shared(DevicePtr memory) override;
  LaunchStatus write(DevicePtr to, std::span<const std::byte> from) override;
  LaunchStatus read(std::span<std::byte> to, DevicePtr from) override;
  LaunchStatus copy_async(DevicePtr to, DevicePtr from, std::uint64_t bytes) override;
  LaunchStatus fill_async(DevicePtr to, std::uint64_t count, std::uint32_t width,
                          std::uint64_t pattern) override;
  LaunchResult<KernelHandle> load(std::string_view image, const std::string& kernel,
                                  std::uint32_t shared_bytes) override;
  void unload(KernelHandle kernel) override;
  LaunchStatus reload(KernelHandle kernel, std::string_view image, const std::string& name,
                      std::uint32_t shared_bytes) override;
  const KernelFacts& kernel_facts(KernelHandle kernel) const override {
    return loaded_[kernel].facts;
  }
  LaunchStatus launch_async(KernelHandle kernel, const LaunchShape& shape,
                            std::span<const ParamValue> params) override;
  /// Creates a descriptor that contains the tensor's address, followed by zeros.
  LaunchResult<TensorMap> encode_tensor_map(const TensorMapSpec& spec) override;
  LaunchStatus synchronize() override;
  LaunchStatus block_stream() override { return usable(); }
  void unblock_stream() override {}
  LaunchStatus mark_start() override;
  LaunchStatus mark_stop() override;
  LaunchResult<double> elapsed_ns() override;
  LaunchStatus reset_persisting_l2() override { return usable(); }
  LaunchStatus reserve_stacks() override {
    stacks_reserved_ = true;
    return usable();
  }

 private:
  struct Known {
    std::vector<std::size_t> param_bytes;
    FakeKernel body;
  };
  struct Loaded {
    std::string name;
    KernelFacts facts;
    bool unloaded = false;
    std::uint64_t variable = 0;
  };

  LaunchStatus usable() const;
  LaunchStatus illegal_address();

  DeviceFacts facts_;
  std::uint64_t allocated_ = 0;
  std::uint64_t taken_ = 0;  // the simulated number of bytes that other processes have allocated
  DevicePtr next_address_;
  std::map<DevicePtr, std::vector<std::byte>> memory_;
  std::map<DevicePtr, Mapping> shared_, hidden_;
  Calls calls_;
  std::map<std::string, Known> known_;
  std::map<std::string, double> kernel_ns_;
  std::map<std::string, std::int64_t> local_bytes_;
  std::vector<Loaded> loaded_;
  bool stacks_reserved_ = false, prefers_one_allocation_ = false;
  std::vector<Record> launches_;
  std::optional<LaunchError> lost_;  // set after a fault: the reason why the context is lost
  double clock_ns_ = 0;
  double start_ns_ = 0;
  double stop_ns_ = 0;
  std::uint32_t jitter_ = 1;
};

/// Adds the kernels of `assay-launcher --driver fake`. With these kernels, tests run every step and
/// every failure of a launch in the real process on a machine without a GPU. The kernels'
/// parameters have the sizes that a CUDA kernel with the same signature would declare.
///
/// - fake_vector_add(const float* x, const float* y, float* out, int n): out[i] = x[i] + y[i]
/// - fake_add_once: the same at its first launch; does nothing at later launches
/// - fake_add_in_place: the same, but writes the sum to x instead of out
/// - fake_copy(const float* x, float* y, int n, void* global_scratch, void* profile_scratch):
///   y[i] = x[i]; Triton's compiler declares the two scratch parameters
/// - fake_copy_once: the same at its first launch; does nothing at later launches
/// - fake_copy_and_spoil: the same, and then changes the first byte of x
/// - fake_write_byte(char* p, long offset): p[offset] = 1, inside or outside of the buffer
/// - fake_nothing(char* p, void* global_scratch, void* profile_scratch): returns at once
/// - fake_illegal_address(): loses the context
/// - fake_fault(void* global_scratch, void* profile_scratch): the same
/// - fake_endless(): never returns
/// - fake_reset(): removes the device, as a reset does
/// - fake_system_call(long* result, long number, long a[6]): makes one system call. It acts like an
///   image that has compromised the driver's code in user space. If an argument is a device
///   address, the system call gets the host address of the same memory. Only builds that can leave
///   out isolation layers have this kernel (sandbox/jail/layer.h). The tests that try to break out
///   of the launcher's jail use it.
void add_fake_kernels(FakeDriver& gpu);

}  // namespace assay::sandbox
