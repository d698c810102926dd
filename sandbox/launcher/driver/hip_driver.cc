#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <utility>

#include "sandbox/launcher/driver/hip_api.h"
#include "sandbox/launcher/driver/hip_arguments.h"
#include "sandbox/launcher/driver/hip_rtc.h"
#include "sandbox/launcher/driver/open_driver.h"
#include "sandbox/launcher/driver/shared_mappings.h"

namespace assay::sandbox::hip {
namespace {

constexpr double kNsPerMs = 1e6;
constexpr std::uint32_t kWholeValue = 0xFFFFFFFF;
struct LoadedKernel {
  HipModule module = nullptr;
  HipFunction function = nullptr;
  KernelFacts facts;  // param_bytes is not set, because the runtime does not report the sizes
};

/// Converts an address to the type that HIP expects.
void* at(DevicePtr memory) {
  return reinterpret_cast<void*>(memory);  // NOLINT(performance-no-int-to-ptr)
}

class HipMappings final : public SharedMappings {
 public:
  HipMappings(const HipApi& api, const int& index) : api_(api), index_(index) {}

 private:
  int import_memory(Handle& handle, int fd) override {
    HipMemHandle made = nullptr;
    int version = 0;
    if (const HipResult result = api_.hipDriverGetVersion(&version); result != kSuccess)
      return result;
    // Older versions expect the address of the file descriptor's number.
    const auto descriptor = static_cast<std::uintptr_t>(fd);
    void* number = version < kFirstDescriptorByValue
                       ? static_cast<void*>(&fd)
                       : reinterpret_cast<void*>(descriptor);  // NOLINT(performance-no-int-to-ptr)
    const HipResult result =
        api_.hipMemImportFromShareableHandle(&made, number, kHandleTypePosixFd);
    handle = reinterpret_cast<Handle>(made);
    return result;
  }
  int release(Handle handle) override { return api_.hipMemRelease(handle_of(handle)); }
  int reserve(DevicePtr& base, std::uint64_t bytes) override {
    void* made = nullptr;
    const HipResult result = api_.hipMemAddressReserve(&made, bytes, 0, nullptr, 0);
    base = reinterpret_cast<DevicePtr>(made);
    return result;
  }
  int free_addresses(DevicePtr base, std::uint64_t bytes) override {
    return api_.hipMemAddressFree(at(base), bytes);
  }
  int map_at(DevicePtr base, std::uint64_t bytes, Handle handle) override {
    return api_.hipMemMap(at(base), bytes, 0, handle_of(handle), 0);
  }
  int allow_access(DevicePtr base, std::uint64_t bytes) override {
    const HipMemAccessDesc access{{kLocationDevice, index_}, kAccessReadWrite};
    return api_.hipMemSetAccess(at(base), bytes, &access, 1);
  }
  int unmap_at(DevicePtr base, std::uint64_t bytes) override {
    return api_.hipMemUnmap(at(base), bytes);
  }
  LaunchError classified(int result, const std::string& doing) const override {
    return classify(api_, result, doing);
  }
  static HipMemHandle handle_of(Handle handle) {
    return reinterpret_cast<HipMemHandle>(handle);  // NOLINT(performance-no-int-to-ptr)
  }

  const HipApi& api_;
  const int& index_;
};

class HipDriver final : public GpuDriver {
 public:
  HipDriver(const HipApi& api, DeviceFacts facts)
      : api_(api), facts_(std::move(facts)), parameters_(kHipArgumentRoomBytes) {}
  HipDriver(const HipDriver&) = delete;
  HipDriver& operator=(const HipDriver&) = delete;

  ~HipDriver() override {
    // If the stream stayed blocked, the calls below would wait forever.
    unblock_stream();
    for (LoadedKernel& kernel : kernels_) {
      if (kernel.module != nullptr) api_.hipModuleUnload(kernel.module);
    }
    if (start_ != nullptr) api_.hipEventDestroy(start_);
    if (stop_ != nullptr) api_.hipEventDestroy(stop_);
    if (stream_ != nullptr) api_.hipStreamDestroy(stream_);
    if (blocker_ != nullptr) api_.hipFree(blocker_);
  }

  LaunchStatus open(int index) {
    index_ = index;
    if (LaunchStatus s = check(api_.hipSetDevice(index), "hipSetDevice"); !s) return s;
    if (LaunchStatus s = check(api_.hipStreamCreateWithFlags(&stream_, kStreamNonBlocking),
                               "hipStreamCreateWithFlags");
        !s)
      return s;
    if (LaunchStatus s =
            check(api_.hipEventCreateWithFlags(&start_, kEventDefault), "hipEventCreateWithFlags");
        !s)
      return s;
    if (LaunchStatus s =
            check(api_.hipEventCreateWithFlags(&stop_, kEventDefault), "hipEventCreateWithFlags");
        !s)
      return s;
    return allocate_blocker(index);
  }

  const DeviceFacts& facts() const override { return facts_; }
  LaunchResult<DevicePtr> allocate(std::uint64_t bytes) override {
    void* memory = nullptr;
    const HipResult result = api_.hipMalloc(&memory, std::max<std::uint64_t>(bytes, 1));
    if (result != kSuccess)
      return tl::unexpected(
          classify(api_, result, "allocating " + std::to_string(bytes) + " bytes of GPU memory"));
    return reinterpret_cast<DevicePtr>(memory);
  }
  void free(DevicePtr memory) override { api_.hipFree(at(memory)); }
  LaunchResult<DevicePtr> map_shared(int fd, std::uint64_t size) override {
    return shared_.map(fd, size);
  }
  LaunchStatus unmap_shared(DevicePtr memory) override { return shared_.unmap(memory); }
  LaunchStatus hide_shared(DevicePtr memory) override { return shared_.hide(memory); }
  LaunchStatus show_shared(DevicePtr memory) override { return shared_.show(memory); }

  LaunchStatus write(DevicePtr to, std::span<const std::byte> from) override {
    if (from.empty()) return {};
    // The call does not write to its source. Only newer versions of HIP declare the source as
    // const.
    void* source = const_cast<std::byte*>(from.data());
    if (LaunchStatus s =
            check(api_.hipMemcpyHtoDAsync(at(to), source, from.size(), stream_), "copy to the GPU");
        !s)
      return s;
    return synchronize();
  }
  LaunchStatus read(std::span<std::byte> to, DevicePtr from) override {
    if (to.empty()) return synchronize();
    if (LaunchStatus s = check(api_.hipMemcpyDtoHAsync(to.data(), at(from), to.size(), stream_),
                               "copy from the GPU");
        !s)
      return s;
    return synchronize();
  }
  LaunchStatus copy_async(DevicePtr to, DevicePtr from, std::uint64_t bytes) override {
    if (bytes == 0) return {};
    return check(api_.hipMemcpyDtoDAsync(at(to), at(from), bytes, stream_), "copy on the GPU");
  }

  LaunchStatus fill_async(DevicePtr to, std::uint64_t count, std::uint32_t width,
                          std::uint64_t pattern) override {
    if (count == 0) return {};
    const auto low = static_cast<std::uint32_t>(pattern);
    switch (width) {
      case 1:
        return check(api_.hipMemsetD8Async(at(to), static_cast<unsigned char>(low), count, stream_),
                     "fill");
      case 2:
        return check(
            api_.hipMemsetD16Async(at(to), static_cast<unsigned short>(low), count, stream_),
            "fill");
      case 4:
        return check(api_.hipMemsetD32Async(at(to), static_cast<int>(low), count, stream_), "fill");
      default: break;
    }
    const auto high = static_cast<std::uint32_t>(pattern >> 32);
    if (low == high)
      return check(api_.hipMemsetD32Async(at(to), static_cast<int>(low), 2 * count, stream_),
                   "fill");
    // HIP has no 64-bit fill. So the two halves of the first element are written separately, and
    // then each copy doubles the filled range.
    if (LaunchStatus s =
            check(api_.hipMemsetD32Async(at(to), static_cast<int>(low), 1, stream_), "fill");
        !s)
      return s;
    if (LaunchStatus s =
            check(api_.hipMemsetD32Async(at(to + sizeof low), static_cast<int>(high), 1, stream_),
                  "fill");
        !s)
      return s;
    for (std::uint64_t done = 1; done < count; done *= 2) {
      if (LaunchStatus s = copy_async(to + done * sizeof pattern, to,
                                      std::min(done, count - done) * sizeof pattern);
          !s)
        return s;
    }
    return {};
  }

  bool compiles_hip() const override { return true; }
  LaunchResult<std::string> compile(std::string_view text) override {
    return compile_text(text, facts_.target);
  }
  LaunchResult<KernelHandle> load(std::string_view image, const std::string& kernel,
                                  std::uint32_t) override {
    LaunchResult<LoadedKernel> loaded = load_module(image, kernel);
    if (!loaded) return tl::unexpected(loaded.error());
    kernels_.push_back(std::move(*loaded));
    return static_cast<KernelHandle>(kernels_.size() - 1);
  }
  void unload(KernelHandle kernel) override {
    const LoadedKernel gone = std::exchange(kernels_[kernel], {.facts = kernels_[kernel].facts});
    if (gone.module != nullptr) api_.hipModuleUnload(gone.module);
  }
  LaunchStatus reload(KernelHandle kernel, std::string_view image, const std::string& name,
                      std::uint32_t) override {
    if (LaunchStatus s = synchronize(); !s) return s;
    unload(kernel);
    LaunchResult<LoadedKernel> loaded = load_module(image, name);
    if (!loaded) return tl::unexpected(loaded.error());
    kernels_[kernel] = std::move(*loaded);
    return {};
  }
  const KernelFacts& kernel_facts(KernelHandle kernel) const override {
    return kernels_[kernel].facts;
  }

  LaunchStatus launch_async(KernelHandle kernel, const LaunchShape& shape,
                            std::span<const ParamValue> params) override {
    if (LaunchStatus s = check_hip_shape(shape); !s) return s;
    LaunchResult<std::size_t> size = pack_hip_arguments(params, parameters_);
    if (!size) return tl::unexpected(size.error());
    if (shape.cooperative) return launch_together(kernel, shape, params, *size);
    const auto key = [](std::uintptr_t value) {
      return reinterpret_cast<void*>(value);  // NOLINT(performance-no-int-to-ptr)
    };
    void* extra[] = {key(kLaunchParamBufferPointer), parameters_.data(),
                     key(kLaunchParamBufferSize), &*size, key(kLaunchParamEnd)};
    return check(
        api_.hipModuleLaunchKernel(kernels_[kernel].function, shape.grid[0], shape.grid[1],
                                   shape.grid[2], shape.block[0], shape.block[1], shape.block[2],
                                   shape.shared_bytes, stream_, nullptr, extra),
        "launch");
  }

  LaunchResult<TensorMap> encode_tensor_map(const TensorMapSpec&) override {
    return launch_fail(LaunchErrorKind::launch_failure,
                       "encoding a tensor map: AMD GPUs have none");
  }

  LaunchStatus synchronize() override {
    return check(api_.hipStreamSynchronize(stream_), "running on the GPU");
  }

  LaunchStatus block_stream() override {
    if (blocker_ == nullptr) return {};
    std::atomic_ref<std::uint32_t>(*blocker_).store(0, std::memory_order_release);
    return check(api_.hipStreamWaitValue32(stream_, blocker_, 1, kStreamWaitValueGte, kWholeValue),
                 "blocking the stream");
  }
  void unblock_stream() override {
    if (blocker_ != nullptr)
      std::atomic_ref<std::uint32_t>(*blocker_).store(1, std::memory_order_release);
  }
  LaunchStatus mark_start() override {
    return check(api_.hipEventRecord(start_, stream_), "recording an event");
  }
  LaunchStatus mark_stop() override {
    return check(api_.hipEventRecord(stop_, stream_), "recording an event");
  }
  LaunchResult<double> elapsed_ns() override {
    float ms = 0;
    if (LaunchStatus s = check(api_.hipEventElapsedTime(&ms, start_, stop_), "reading the timer");
        !s)
      return tl::unexpected(s.error());
    return static_cast<double>(ms) * kNsPerMs;
  }
  LaunchStatus reset_persisting_l2() override { return {}; }  // HIP has no persisting cache lines

 private:
  LaunchStatus check(HipResult result, const std::string& doing) const {
    if (result == kSuccess) return {};
    return tl::unexpected(classify(api_, result, doing));
  }

  /// Allocates the word for which a blocked stream waits. Some devices do not support stream waits.
  /// On such a device the stream is never blocked, and a measurement includes the gaps between
  /// launches that the host causes.
  LaunchStatus allocate_blocker(int index) {
    int supported = 0;
    void* word = nullptr;
    if (api_.hipDeviceGetAttribute(&supported, kAttributeCanUseStreamWaitValue, index) !=
            kSuccess ||
        supported == 0)
      return {};
    if (api_.hipExtMallocWithFlags(&word, sizeof(std::uint64_t), kMallocSignalMemory) != kSuccess)
      return {};
    blocker_ = static_cast<std::uint32_t*>(word);
    *blocker_ = 1;
    if (api_.hipStreamWaitValue32(stream_, blocker_, 1, kStreamWaitValueGte, kWholeValue) !=
        kSuccess) {
      api_.hipFree(word);
      blocker_ = nullptr;
    }
    return synchronize();
  }

  /// Performs a cooperative launch. `packed` is the size of the arguments in parameters_.
  LaunchStatus launch_together(KernelHandle kernel, const LaunchShape& shape,
                               std::span<const ParamValue> params, std::size_t packed) {
    if (api_.hipModuleLaunchCooperativeKernel == nullptr)
      return launch_fail(LaunchErrorKind::launch_failure,
                         "launch: this HIP runtime has no cooperative launches of modules "
                         "(hipModuleLaunchCooperativeKernel); ROCm 6.0 or newer has them");
    HipFunction function = kernels_[kernel].function;
    const std::uint64_t threads = std::uint64_t{shape.block[0]} * shape.block[1] * shape.block[2];
    int each = 0;
    if (LaunchStatus s = check(api_.hipModuleOccupancyMaxActiveBlocksPerMultiprocessor(
                                   &each, function, static_cast<int>(threads), shape.shared_bytes),
                               "cooperative launch: asking for the occupancy");
        !s)
      return s;
    if (LaunchStatus s = check_hip_cooperative(shape, each, facts_.sms); !s) return s;
    point_to_hip_arguments(params, packed, parameters_, pointers_);
    return check(api_.hipModuleLaunchCooperativeKernel(
                     function, shape.grid[0], shape.grid[1], shape.grid[2], shape.block[0],
                     shape.block[1], shape.block[2], shape.shared_bytes, stream_, pointers_.data()),
                 "cooperative launch");
  }

  LaunchResult<LoadedKernel> load_module(std::string_view image, const std::string& kernel) {
    const std::string doing = "loading kernel '" + kernel + "'";
    LoadedKernel loaded;
    // The zero byte at the end of this copy keeps the runtime from reading other memory if the
    // image is truncated.
    const std::string bytes(image);
    if (LaunchStatus s = check(api_.hipModuleLoadData(&loaded.module, bytes.c_str()), doing); !s)
      return tl::unexpected(s.error());
    if (LaunchStatus s = prepare(loaded, kernel, doing); !s) {
      api_.hipModuleUnload(loaded.module);
      return tl::unexpected(s.error());
    }
    return loaded;
  }

  LaunchStatus prepare(LoadedKernel& loaded, const std::string& kernel, const std::string& doing) {
    if (LaunchStatus s = check(
            api_.hipModuleGetFunction(&loaded.function, loaded.module, kernel.c_str()), doing);
        !s)
      return s;
    const std::pair<int, std::int64_t*> wanted[] = {
        {kFunctionNumRegs, &loaded.facts.registers},
        {kFunctionLocalSizeBytes, &loaded.facts.local_bytes},
        {kFunctionSharedSizeBytes, &loaded.facts.static_shared_bytes},
        {kFunctionMaxThreadsPerBlock, &loaded.facts.max_threads_per_block}};
    for (const auto& [which, to] : wanted) {
      int value = 0;
      if (LaunchStatus s = check(api_.hipFuncGetAttribute(&value, which, loaded.function), doing);
          !s)
        return s;
      *to = value;
    }
    return {};
  }

  const HipApi& api_;
  DeviceFacts facts_;
  int index_ = 0;
  std::vector<std::byte> parameters_;
  std::vector<void*> pointers_;  // to the arguments of a cooperative launch
  HipStream stream_ = nullptr;
  HipEvent start_ = nullptr;
  HipEvent stop_ = nullptr;
  // Signal memory, which both the host and the device can access. It is null if the stream cannot
  // be blocked.
  std::uint32_t* blocker_ = nullptr;
  std::vector<LoadedKernel> kernels_;
  HipMappings shared_{api_, index_};
};

}  // namespace
}  // namespace assay::sandbox::hip

namespace assay::sandbox {

LaunchResult<std::unique_ptr<GpuDriver>> make_hip_driver(const hip::HipApi& api, int index,
                                                         DeviceFacts facts) {
  auto driver = std::make_unique<hip::HipDriver>(api, std::move(facts));
  if (LaunchStatus opened = driver->open(index); !opened)
    return launch_fail(LaunchErrorKind::internal_error, opened.error().message);
  return driver;
}

LaunchResult<std::unique_ptr<GpuDriver>> open_hip_driver(int index) {
  LaunchResult<DeviceFacts> facts = device_at(hip::open_hip_api(), index, "HIP");
  if (!facts) return tl::unexpected(facts.error());
  return make_hip_driver(**hip::open_hip_api(), index, std::move(*facts));
}

Result<std::vector<DeviceFacts>> list_hip_devices() { return list_devices(hip::open_hip_api()); }

}  // namespace assay::sandbox
