#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <cstdint>
#include <utility>

#include "sandbox/launcher/driver/cuda_api.h"
#include "sandbox/launcher/driver/cuda_ptx.h"
#include "sandbox/launcher/driver/open_driver.h"
#include "sandbox/launcher/driver/shared_mappings.h"

namespace assay::sandbox::cuda {
namespace {

// The maximum sum of static and dynamic shared memory of a kernel that has not opted in to more
// shared memory.
constexpr std::int64_t kStaticSharedLimitBytes = 48 << 10;
constexpr std::uint32_t kPortableClusterBlocks = 8;
constexpr double kNsPerMs = 1e6;

struct LoadedKernel {
  CUmodule module = nullptr;
  CUfunction function = nullptr;
  KernelFacts facts;
};

class CudaMappings final : public SharedMappings {
 public:
  CudaMappings(const CudaApi& api, const CUdevice& device) : api_(api), device_(device) {}

 private:
  int import_memory(Handle& handle, int fd) override {
    CUmemGenericAllocationHandle made = 0;
    // The driver expects the file descriptor's number as a pointer.
    const auto descriptor = static_cast<std::uintptr_t>(fd);
    void* number = reinterpret_cast<void*>(descriptor);  // NOLINT(performance-no-int-to-ptr)
    const CUresult result = api_.cuMemImportFromShareableHandle(&made, number, kHandleTypePosixFd);
    handle = made;
    return result;
  }
  int release(Handle handle) override { return api_.cuMemRelease(handle); }
  int reserve(DevicePtr& base, std::uint64_t bytes) override {
    return api_.cuMemAddressReserve(&base, bytes, 0, 0, 0);
  }
  int free_addresses(DevicePtr base, std::uint64_t bytes) override {
    return api_.cuMemAddressFree(base, bytes);
  }
  int map_at(DevicePtr base, std::uint64_t bytes, Handle handle) override {
    return api_.cuMemMap(base, bytes, 0, handle, 0);
  }
  int allow_access(DevicePtr base, std::uint64_t bytes) override {
    const CUmemAccessDesc access{{kLocationDevice, device_}, kAccessReadWrite};
    return api_.cuMemSetAccess(base, bytes, &access, 1);
  }
  int unmap_at(DevicePtr base, std::uint64_t bytes) override {
    return api_.cuMemUnmap(base, bytes);
  }
  LaunchError classified(int result, const std::string& doing) const override {
    return classify(api_, result, doing.c_str());
  }

  const CudaApi& api_;
  const CUdevice& device_;
};

class CudaDriver final : public GpuDriver {
 public:
  CudaDriver(const CudaApi& api, DeviceFacts facts) : api_(api), facts_(std::move(facts)) {}
  CudaDriver(const CudaDriver&) = delete;
  CudaDriver& operator=(const CudaDriver&) = delete;

  ~CudaDriver() override {
    // If the stream stayed blocked, the calls below would wait forever.
    unblock_stream();
    for (LoadedKernel& kernel : kernels_) {
      if (kernel.module != nullptr) api_.cuModuleUnload(kernel.module);
    }
    if (start_ != nullptr) api_.cuEventDestroy_v2(start_);
    if (stop_ != nullptr) api_.cuEventDestroy_v2(stop_);
    if (stream_ != nullptr) api_.cuStreamDestroy_v2(stream_);
    if (blocker_ != nullptr) api_.cuMemFreeHost(blocker_);
    if (context_ != nullptr) api_.cuDevicePrimaryCtxRelease_v2(device_);
  }

  LaunchStatus open(int index) {
    if (LaunchStatus s = check(api_.cuDeviceGet(&device_, index), "cuDeviceGet"); !s) return s;
    if (LaunchStatus s =
            check(api_.cuDevicePrimaryCtxRetain(&context_, device_), "cuDevicePrimaryCtxRetain");
        !s)
      return s;
    if (LaunchStatus s = check(api_.cuCtxSetCurrent(context_), "cuCtxSetCurrent"); !s) return s;
    if (LaunchStatus s = release_stacks(); !s) return s;
    if (LaunchStatus s = check(api_.cuStreamCreate(&stream_, kStreamNonBlocking), "cuStreamCreate");
        !s)
      return s;
    if (LaunchStatus s = check(api_.cuEventCreate(&start_, kEventDefault), "cuEventCreate"); !s)
      return s;
    if (LaunchStatus s = check(api_.cuEventCreate(&stop_, kEventDefault), "cuEventCreate"); !s)
      return s;
    return allocate_blocker();
  }

  const DeviceFacts& facts() const override { return facts_; }
  LaunchResult<DevicePtr> allocate(std::uint64_t bytes) override {
    CUdeviceptr memory = 0;  // the driver refuses to allocate 0 bytes
    const CUresult result = api_.cuMemAlloc_v2(&memory, std::max<std::uint64_t>(bytes, 1));
    if (result != kSuccess)
      return tl::unexpected(
          classify(api_, result, "allocating " + std::to_string(bytes) + " bytes of GPU memory"));
    return memory;
  }
  void free(DevicePtr memory) override { api_.cuMemFree_v2(memory); }
  bool prefers_one_allocation() const override { return true; }
  LaunchResult<DevicePtr> map_shared(int fd, std::uint64_t size) override {
    return shared_.map(fd, size);
  }
  LaunchStatus unmap_shared(DevicePtr memory) override { return shared_.unmap(memory); }
  LaunchStatus hide_shared(DevicePtr memory) override { return shared_.hide(memory); }
  LaunchStatus show_shared(DevicePtr memory) override { return shared_.show(memory); }

  LaunchStatus write(DevicePtr to, std::span<const std::byte> from) override {
    if (from.empty()) return {};
    // The copy is queued on this driver's stream. CUDA's synchronous copy could return before the
    // last part of pageable memory has arrived on the device.
    if (LaunchStatus s = check(api_.cuMemcpyHtoDAsync_v2(to, from.data(), from.size(), stream_),
                               "copy to the GPU");
        !s)
      return s;
    return synchronize();
  }
  LaunchStatus read(std::span<std::byte> to, DevicePtr from) override {
    if (to.empty()) return synchronize();
    if (LaunchStatus s = check(api_.cuMemcpyDtoHAsync_v2(to.data(), from, to.size(), stream_),
                               "copy from the GPU");
        !s)
      return s;
    return synchronize();
  }
  LaunchStatus copy_async(DevicePtr to, DevicePtr from, std::uint64_t bytes) override {
    if (bytes == 0) return {};
    return check(api_.cuMemcpyDtoDAsync_v2(to, from, bytes, stream_), "copy on the GPU");
  }

  LaunchStatus fill_async(DevicePtr to, std::uint64_t count, std::uint32_t width,
                          std::uint64_t pattern) override {
    if (count == 0) return {};
    const auto low = static_cast<std::uint32_t>(pattern);
    switch (width) {
      case 1:
        return check(api_.cuMemsetD8Async(to, static_cast<unsigned char>(low), count, stream_),
                     "fill");
      case 2:
        return check(api_.cuMemsetD16Async(to, static_cast<unsigned short>(low), count, stream_),
                     "fill");
      case 4: return check(api_.cuMemsetD32Async(to, low, count, stream_), "fill");
      default: break;
    }
    const auto high = static_cast<std::uint32_t>(pattern >> 32);
    if (low == high) return check(api_.cuMemsetD32Async(to, low, 2 * count, stream_), "fill");
    // The driver has no 64-bit fill. So the memory is treated as rows of 8 bytes with two columns
    // of 4 bytes. Each half of the pattern is written to one column.
    if (LaunchStatus s = check(api_.cuMemsetD2D32Async(to, 8, low, 1, count, stream_), "fill"); !s)
      return s;
    return check(api_.cuMemsetD2D32Async(to + 4, 8, high, 1, count, stream_), "fill");
  }

  LaunchResult<std::string> compile(std::string_view ptx) override {
    return compile_ptx(api_, std::string(ptx));
  }
  LaunchResult<KernelHandle> load(std::string_view image, const std::string& kernel,
                                  std::uint32_t shared_bytes) override {
    LaunchResult<LoadedKernel> loaded = load_module(image, kernel, shared_bytes);
    if (!loaded) return tl::unexpected(loaded.error());
    kernels_.push_back(std::move(*loaded));
    return static_cast<KernelHandle>(kernels_.size() - 1);
  }
  void unload(KernelHandle kernel) override {
    const LoadedKernel gone = std::exchange(kernels_[kernel], {.facts = kernels_[kernel].facts});
    if (gone.module != nullptr) api_.cuModuleUnload(gone.module);
  }
  LaunchStatus reload(KernelHandle kernel, std::string_view image, const std::string& name,
                      std::uint32_t shared_bytes) override {
    if (LaunchStatus s = synchronize(); !s) return s;
    unload(kernel);
    LaunchResult<LoadedKernel> loaded = load_module(image, name, shared_bytes);
    if (!loaded) return tl::unexpected(loaded.error());
    kernels_[kernel] = std::move(*loaded);
    return {};
  }
  const KernelFacts& kernel_facts(KernelHandle kernel) const override {
    return kernels_[kernel].facts;
  }

  LaunchStatus launch_async(KernelHandle kernel, const LaunchShape& shape,
                            std::span<const ParamValue> params) override {
    CUlaunchAttribute attributes[4] = {};
    CUlaunchConfig config = {
        shape.grid[0],  shape.grid[1],      shape.grid[2], shape.block[0], shape.block[1],
        shape.block[2], shape.shared_bytes, stream_,       attributes,     0};
    const auto add = [&](int id) -> CUlaunchAttributeValue& {
      attributes[config.numAttrs].id = id;
      return attributes[config.numAttrs++].value;
    };
    const std::uint32_t cluster_blocks = shape.cluster[0] * shape.cluster[1] * shape.cluster[2];
    if (cluster_blocks > 1) {
      add(kLaunchClusterDimension).clusterDim = {shape.cluster[0], shape.cluster[1],
                                                 shape.cluster[2]};
      add(kLaunchClusterSchedulingPolicyPreference).clusterSchedulingPolicyPreference =
          kClusterSchedulingPolicySpread;
    }
    if (shape.cooperative) add(kLaunchCooperative).cooperative = 1;
    if (shape.dependent_launch)
      add(kLaunchProgrammaticStreamSerialization).programmaticStreamSerializationAllowed = 1;
    CUfunction function = kernels_[kernel].function;
    if (cluster_blocks > kPortableClusterBlocks) {
      if (LaunchStatus s =
              check(api_.cuFuncSetAttribute(function, kFunctionNonPortableClusterSizeAllowed, 1),
                    "allowing a cluster of over 8 blocks");
          !s)
        return s;
    }
    // The driver reads each value through a pointer. Values are little endian, as on this host.
    std::vector<std::uint64_t> values(params.size());
    std::vector<void*> pointers(params.size());
    for (std::size_t i = 0; i < params.size(); ++i) {
      values[i] = params[i].value;
      // The driver copies a tensor map and does not write to it.
      pointers[i] = params[i].map ? const_cast<TensorMap*>(params[i].map.get())
                                  : static_cast<void*>(&values[i]);
    }
    return check(api_.cuLaunchKernelEx(&config, function, pointers.data(), nullptr), "launch");
  }

  LaunchResult<TensorMap> encode_tensor_map(const TensorMapSpec& spec) override {
    static_assert(sizeof(TensorMap) == sizeof(CUtensorMap) &&
                  alignof(TensorMap) == alignof(CUtensorMap));
    constexpr std::size_t kMaxRank = 5;
    constexpr std::array<std::uint32_t, kMaxRank> kStep = {1, 1, 1, 1, 1};
    std::array<std::uint64_t, kMaxRank> strides{};  // has one element more than the driver reads
    std::copy(spec.strides.begin(), spec.strides.end(), strides.begin());
    TensorMap map;
    void* base = reinterpret_cast<void*>(spec.base);  // NOLINT(performance-no-int-to-ptr)
    const CUresult result = api_.cuTensorMapEncodeTiled(
        reinterpret_cast<CUtensorMap*>(&map), spec.type, static_cast<unsigned>(spec.shape.size()),
        base, spec.shape.data(), strides.data(), spec.box.data(), kStep.data(),
        kTensorMapInterleaveNone, spec.swizzle, kTensorMapL2Promotion128B,
        spec.nan_outside ? kTensorMapFillNan : kTensorMapFillNone);
    if (result != kSuccess)
      return launch_fail(LaunchErrorKind::launch_failure,
                         "encoding a tensor map: " + api_.describe(result));
    return map;
  }

  LaunchStatus synchronize() override {
    return check(api_.cuStreamSynchronize(stream_), "running on the GPU");
  }

  LaunchStatus block_stream() override {
    if (blocker_ == nullptr) return {};
    std::atomic_ref<std::uint32_t>(*blocker_).store(0, std::memory_order_release);
    return check(api_.cuStreamWaitValue32_v2(stream_, blocker_on_device_, 1, kWaitValueGeq),
                 "blocking the stream");
  }
  void unblock_stream() override {
    if (blocker_ != nullptr)
      std::atomic_ref<std::uint32_t>(*blocker_).store(1, std::memory_order_release);
  }
  LaunchStatus mark_start() override {
    return check(api_.cuEventRecord(start_, stream_), "recording an event");
  }
  LaunchStatus mark_stop() override {
    return check(api_.cuEventRecord(stop_, stream_), "recording an event");
  }
  LaunchResult<double> elapsed_ns() override {
    float ms = 0;
    if (LaunchStatus s = check(api_.cuEventElapsedTime(&ms, start_, stop_), "reading the timer");
        !s)
      return tl::unexpected(s.error());
    return static_cast<double>(ms) * kNsPerMs;
  }
  LaunchStatus reset_persisting_l2() override {
    return check(api_.cuCtxResetPersistingL2Cache(), "resetting the L2");
  }
  LaunchStatus reserve_stacks() override {
    if (stacks_reserved_) return {};
    LaunchStatus reserved =
        check(api_.cuCtxSetLimit(kLimitStackSize, stack_bytes_), "reserving memory for the stacks");
    stacks_reserved_ = reserved.has_value();
    return reserved;
  }

 private:
  LaunchStatus check(CUresult result, const char* doing) const {
    if (result == kSuccess) return {};
    return tl::unexpected(classify(api_, result, doing));
  }

  /// Gives back the memory of the threads' stacks, which a new context has reserved: 264 MiB on an
  /// H200, half of the context's memory. Few kernels use a stack (reserve_stacks()).
  LaunchStatus release_stacks() {
    if (LaunchStatus s = check(api_.cuCtxGetLimit(&stack_bytes_, kLimitStackSize), "cuCtxGetLimit");
        !s)
      return s;
    return check(api_.cuCtxSetLimit(kLimitStackSize, 0), "giving back the memory of the stacks");
  }

  /// Allocates the word for which a blocked stream waits. Some virtual GPUs do not support stream
  /// waits on host memory. On such a GPU the stream is never blocked, and a measurement includes
  /// the gaps between launches that the host causes.
  LaunchStatus allocate_blocker() {
    void* word = nullptr;
    if (api_.cuMemHostAlloc(&word, sizeof(std::uint32_t), kMemHostAllocDeviceMap) != kSuccess)
      return {};
    blocker_ = static_cast<std::uint32_t*>(word);
    *blocker_ = 1;
    const bool works =
        api_.cuMemHostGetDevicePointer_v2(&blocker_on_device_, word, 0) == kSuccess &&
        api_.cuStreamWaitValue32_v2(stream_, blocker_on_device_, 1, kWaitValueGeq) == kSuccess;
    if (!works) {
      api_.cuMemFreeHost(word);
      blocker_ = nullptr;
    }
    return synchronize();
  }

  LaunchResult<LoadedKernel> load_module(std::string_view image, const std::string& kernel,
                                         std::uint32_t shared_bytes) {
    LoadedKernel loaded;
    // The driver derives the image's size from the image's headers. If the image is truncated, the
    // zero byte at the end of this copy keeps the driver from reading other memory.
    const std::string bytes(image);
    if (const CUresult result = api_.cuModuleLoadData(&loaded.module, bytes.c_str());
        result != kSuccess) {
      return tl::unexpected(classify(api_, result, "loading kernel '" + kernel + "'"));
    }
    if (LaunchStatus ready = prepare(loaded, kernel, shared_bytes); !ready) {
      api_.cuModuleUnload(loaded.module);
      return tl::unexpected(ready.error());
    }
    return loaded;
  }

  LaunchStatus prepare(LoadedKernel& loaded, const std::string& kernel,
                       std::uint32_t shared_bytes) {
    const std::string doing = "kernel '" + kernel + "'";
    if (LaunchStatus s =
            check(api_.cuModuleGetFunction(&loaded.function, loaded.module, kernel.c_str()),
                  doing.c_str());
        !s)
      return s;
    LaunchResult<KernelFacts> facts = read_kernel_facts(api_, loaded.function, doing);
    if (!facts) return tl::unexpected(facts.error());
    loaded.facts = std::move(*facts);
    if (loaded.facts.static_shared_bytes + shared_bytes <= kStaticSharedLimitBytes) return {};
    // A kernel that needs more shared memory has to opt in. For such a kernel, the driver is set to
    // prefer shared memory over L1, as in Triton's own launcher.
    if (LaunchStatus s =
            check(api_.cuFuncSetCacheConfig(loaded.function, kCachePreferShared), doing.c_str());
        !s)
      return s;
    return check(
        api_.cuFuncSetAttribute(loaded.function, kFunctionMaxDynamicSharedSizeBytes,
                                static_cast<int>(shared_bytes)),
        (doing + ": asking for " + std::to_string(shared_bytes) + " bytes of shared memory")
            .c_str());
  }

  const CudaApi& api_;
  DeviceFacts facts_;
  CUdevice device_ = 0;
  CUcontext context_ = nullptr;
  CUstream stream_ = nullptr;
  CUevent start_ = nullptr;
  CUevent stop_ = nullptr;
  std::uint32_t* blocker_ = nullptr;  // mapped host memory; null if the stream cannot be blocked
  CUdeviceptr blocker_on_device_ = 0;
  std::size_t stack_bytes_ = 0;  // of each thread, as the driver has it by default
  bool stacks_reserved_ = false;
  std::vector<LoadedKernel> kernels_;
  CudaMappings shared_{api_, device_};
};

}  // namespace
}  // namespace assay::sandbox::cuda

namespace assay::sandbox {

LaunchResult<std::unique_ptr<GpuDriver>> open_cuda_driver(int index) {
  LaunchResult<DeviceFacts> facts = device_at(cuda::open_cuda_api(), index, "CUDA");
  if (!facts) return tl::unexpected(facts.error());
  auto driver = std::make_unique<cuda::CudaDriver>(**cuda::open_cuda_api(), std::move(*facts));
  if (LaunchStatus opened = driver->open(index); !opened)
    return launch_fail(LaunchErrorKind::internal_error, opened.error().message);
  return driver;
}

Result<std::vector<DeviceFacts>> list_cuda_devices() { return list_devices(cuda::open_cuda_api()); }

}  // namespace assay::sandbox
