// GpuDriver is the interface for the calls that the launcher makes to a GPU. A GpuDriver uses one
// context and one stream. It is implemented by CudaDriver (CUDA driver API), HipDriver (AMD's HIP)
// and FakeDriver (host memory). Calls named *_async, block_stream(), mark_start() and mark_stop()
// are queued on the stream in order. write(), read(), reload() and synchronize() wait for all work
// that was queued earlier. Not thread-safe: one thread drives a device.
//
//   LaunchResult<std::unique_ptr<GpuDriver>> gpu = open_cuda_driver(0);
//   LaunchResult<DevicePtr> x = (*gpu)->allocate(bytes);
//   LaunchStatus written = (*gpu)->write(*x, host);  // waits
//   LaunchStatus queued = (*gpu)->launch_async(*kernel, shape, params);
//   LaunchStatus done = (*gpu)->synchronize();  // reports faults of device code
//
// After a gpu_fault the context is lost: every later call fails, and a new process is needed.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "sandbox/launcher/driver/launch_result.h"
#include "sandbox/wire/device_facts.h"

namespace assay::sandbox {

/// An address in the device's memory.
using DevicePtr = std::uint64_t;

/// Identifies a loaded kernel. Valid until unload(), or until the driver is destroyed.
using KernelHandle = std::uint32_t;

struct KernelFacts {
  std::int64_t registers = 0;            // per thread
  std::int64_t local_bytes = 0;          // per thread: spills and stack
  std::int64_t static_shared_bytes = 0;  // per block
  std::int64_t max_threads_per_block = 0;
  // The sizes of the parameters that the image declares, in order. Not set if the driver cannot
  // report these sizes.
  std::optional<std::vector<std::size_t>> param_bytes;
};

struct LaunchShape {
  std::array<std::uint32_t, 3> grid{1, 1, 1};
  std::array<std::uint32_t, 3> block{1, 1, 1};
  std::array<std::uint32_t, 3> cluster{1, 1, 1};
  std::uint32_t shared_bytes = 0;  // dynamic, per block
  bool cooperative = false;
  bool dependent_launch = false;  // programmatic dependent launch
};

/// A TMA descriptor in the form in which a kernel receives it. The driver defines the meaning of
/// the bytes, which include the tensor's address.
struct alignas(128) TensorMap {
  std::array<std::byte, 128> bytes{};
};

/// The tensor that a TMA descriptor describes. The innermost dimension comes first. `type` and
/// `swizzle` have the numeric values of the driver API.
struct TensorMapSpec {
  DevicePtr base = 0;
  int type = 0;
  int swizzle = 0;
  bool nan_outside = false;
  std::vector<std::uint64_t> shape;
  std::vector<std::uint64_t> strides;  // in bytes, for every dimension except the innermost
  std::vector<std::uint32_t> box;
};

/// A kernel argument: either a little-endian value of at most 8 bytes, or a TMA descriptor.
struct ParamValue {
  std::uint64_t value = 0;
  std::size_t bytes = 8;
  // If set, the descriptor is the argument, and `bytes` is the descriptor's size.
  std::shared_ptr<const TensorMap> map = nullptr;
};

class GpuDriver {
 public:
  virtual ~GpuDriver() = default;

  virtual const DeviceFacts& facts() const = 0;

  /// Allocates memory whose address is a multiple of at least 256. Errors: device_full if the
  /// device has too little free memory.
  virtual LaunchResult<DevicePtr> allocate(std::uint64_t bytes) = 0;
  virtual void free(DevicePtr memory) = 0;
  /// Returns true if the driver serves the processes of all GPUs one after the other, so that one
  /// large allocation is better than several small ones.
  virtual bool prefers_one_allocation() const { return false; }
  /// Maps device memory that another process allocated and sent as a file descriptor. `bytes` is
  /// the size of the whole memory.
  virtual LaunchResult<DevicePtr> map_shared(int fd, std::uint64_t bytes) = 0;
  virtual LaunchStatus unmap_shared(DevicePtr memory) = 0;
  /// Takes mapped memory away from the device's code until show_shared() is called, which maps it
  /// again at the same address. Both calls are cheaper than unmap_shared() and map_shared().
  virtual LaunchStatus hide_shared(DevicePtr memory) = 0;
  virtual LaunchStatus show_shared(DevicePtr memory) = 0;
  virtual LaunchStatus write(DevicePtr to, std::span<const std::byte> from) = 0;
  virtual LaunchStatus read(std::span<std::byte> to, DevicePtr from) = 0;
  virtual LaunchStatus copy_async(DevicePtr to, DevicePtr from, std::uint64_t bytes) = 0;
  /// Fills `count` elements of `width` bytes each. The width is 1, 2, 4 or 8, and `to` is a
  /// multiple of the width.
  virtual LaunchStatus fill_async(DevicePtr to, std::uint64_t count, std::uint32_t width,
                                  std::uint64_t pattern) = 0;

  /// Returns true if compile() takes HIP C++, and false if it takes PTX.
  virtual bool compiles_hip() const { return false; }
  /// Compiles a text to an image for this device, so that load() and reload() need not compile.
  /// Errors: launch_failure, internal_error. A driver without a compiler returns the text.
  virtual LaunchResult<std::string> compile(std::string_view text) { return std::string(text); }
  /// Loads an image, and returns its function `kernel`. Errors: launch_failure if the image does
  /// not load or has no such function.
  virtual LaunchResult<KernelHandle> load(std::string_view image, const std::string& kernel,
                                          std::uint32_t shared_bytes) = 0;
  virtual void unload(KernelHandle kernel) = 0;
  /// Waits for the queued work, and loads the kernel's image again under the same handle. So the
  /// image's variables get their first values again.
  virtual LaunchStatus reload(KernelHandle kernel, std::string_view image, const std::string& name,
                              std::uint32_t shared_bytes) = 0;
  virtual const KernelFacts& kernel_facts(KernelHandle kernel) const = 0;
  /// Queues a launch. The caller has checked that `params` match kernel_facts().param_bytes.
  virtual LaunchStatus launch_async(KernelHandle kernel, const LaunchShape& shape,
                                    std::span<const ParamValue> params) = 0;

  /// Creates a TMA descriptor. Errors: launch_failure if the driver refuses it.
  virtual LaunchResult<TensorMap> encode_tensor_map(const TensorMapSpec& spec) = 0;

  virtual LaunchStatus synchronize() = 0;

  // The calls below are for timing. Work that is queued between block_stream() and unblock_stream()
  // waits on the device until unblock_stream() is called. So the time that the host needs for
  // queueing is not measured. At most kMaxBlockedOperations operations can wait. A device that
  // cannot block its stream ignores both calls.
  virtual LaunchStatus block_stream() = 0;
  virtual void unblock_stream() = 0;
  virtual LaunchStatus mark_start() = 0;
  virtual LaunchStatus mark_stop() = 0;
  /// Returns the device time between the start mark and the stop mark. Call it after synchronize().
  virtual LaunchResult<double> elapsed_ns() = 0;
  /// Releases the cache lines that device code asked the L2 cache to keep.
  virtual LaunchStatus reset_persisting_l2() = 0;

  /// Reserves the memory of the threads' stacks. Call it after load() and before the first launch
  /// of a kernel that uses a stack: one with local memory, or with calls of functions. By default,
  /// a driver reserves this memory itself.
  virtual LaunchStatus reserve_stacks() { return {}; }
};

/// The maximum number of operations that may be queued on a blocked stream. The driver's queue has
/// space for about a thousand entries. A call that adds to a full queue waits until the queue has
/// space. While the stream is blocked, such a call waits forever.
inline constexpr std::size_t kMaxBlockedOperations = 256;

/// Checks that a device works: allocates memory, fills it, makes the device copy it, and reads the
/// copy back. The error says which step failed. Each launcher calls this function before it reports
/// that it is ready, so that no job gets a device that does not respond.
LaunchStatus check_health(GpuDriver& gpu);

/// Returns an error if device code can access the launcher's memory on the host. NVIDIA's driver
/// calls this heterogeneous memory management (HMM), AMD's has it with XNACK. A submitted kernel
/// could then change what the launcher measures.
Status check_host_memory(const DeviceFacts& device);

}  // namespace assay::sandbox
