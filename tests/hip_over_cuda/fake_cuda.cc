// A libcuda.so.1 for tests of the stand-in libraries on a machine without a GPU. It passes the
// calls on to FakeDriver (sandbox/launcher/driver/fake_driver.h), which works on host memory. An
// image can be any bytes; the names of its functions are those of add_fake_kernels(), and of the
// launcher's own kernels, whose effects on memory are computed on the host.
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "sandbox/launcher/driver/fake_driver.h"
#include "tests/hip_over_cuda/cuda_calls.h"

#define ASSAY_EXPORT extern "C" __attribute__((visibility("default")))

namespace {

using namespace assay::sandbox;
using namespace assay::sandbox::cuda;
using assay::sandbox::FakeDriver;

constexpr CUresult kInvalidValueOfCuda = 1, kNotFound = 500, kInvalidImage = 200;
constexpr std::uint64_t kWord = 16;
constexpr std::size_t kGranularityBytes = 64 << 10;
// The fake GPU has 4 multiprocessors.
constexpr int kBlocksEach = 2;

/// Returns the addresses of the memory that parameter `param` points to. Ends the process if it is
/// no memory, which would be an error of the launcher.
std::byte* memory_of(FakeLaunch& launch, std::size_t param, std::uint64_t bytes) {
  std::byte* memory = launch.memory(param, 0, bytes);
  if (memory == nullptr && bytes > 0) std::abort();
  return memory;
}

std::uint64_t mixed(std::uint64_t hash) {
  hash = (hash ^ hash >> 30) * 0xbf58476d1ce4e5b9ULL;
  hash = (hash ^ hash >> 27) * 0x94d049bb133111ebULL;
  return hash ^ hash >> 31;
}

/// Adds the launcher's own kernels, with the parameters of sandbox/launcher/memory/trusted_hip.cc.
void add_trusted_kernels(FakeDriver& gpu) {
  const auto nothing = [](FakeLaunch&) { return LaunchStatus{}; };
  gpu.add_kernel("assay_scrub", {4}, nothing);
  gpu.add_kernel("assay_touch", {8}, nothing);
  gpu.add_kernel("assay_clock", {8, 8}, [](FakeLaunch& launch) -> LaunchStatus {
    const std::uint64_t reading[] = {launch.params[1].value, launch.params[1].value};
    std::memcpy(memory_of(launch, 0, sizeof reading), reading, sizeof reading);
    return {};
  });
  gpu.add_kernel("assay_differ", {8, 8, 8, 8, 8}, [](FakeLaunch& launch) -> LaunchStatus {
    const std::uint64_t bytes = launch.params[2].value * kWord + launch.params[3].value;
    const std::uint32_t one = 1;
    if (std::memcmp(memory_of(launch, 0, bytes), memory_of(launch, 1, bytes), bytes) != 0)
      std::memcpy(memory_of(launch, 4, sizeof one), &one, sizeof one);
    return {};
  });
  gpu.add_kernel("assay_mask", {8, 8, 8, 8, 8}, [](FakeLaunch& launch) -> LaunchStatus {
    const std::uint64_t words = launch.params[2].value;
    std::byte* to = memory_of(launch, 0, words * 8);
    const std::byte* from = memory_of(launch, 1, words * 8);
    for (std::uint64_t at = 0; at < words; ++at) {
      std::uint64_t word = 0;
      std::memcpy(&word, from + at * 8, 8);
      word ^= mixed(mixed(at + launch.params[3].value) + launch.params[4].value);
      std::memcpy(to + at * 8, &word, 8);
    }
    return {};
  });
  gpu.add_kernel("assay_fill", {8, 8, 8, 4}, [](FakeLaunch& launch) -> LaunchStatus {
    const std::uint64_t bytes = launch.params[1].value * kWord + launch.params[2].value;
    std::byte* to = memory_of(launch, 0, bytes);
    for (std::uint64_t at = 0; at < bytes; ++at)
      to[at] = static_cast<std::byte>(launch.params[3].value >> (at % 2 * 8) & 0xFF);
    return {};
  });
  gpu.add_kernel("assay_copy_memory", {8, 8, 8, 8}, [](FakeLaunch& launch) -> LaunchStatus {
    const std::uint64_t bytes = launch.params[2].value * kWord + launch.params[3].value;
    if (bytes > 0) std::memmove(memory_of(launch, 0, bytes), memory_of(launch, 1, bytes), bytes);
    return {};
  });
}

struct Gpu {
  FakeDriver driver;
  std::vector<std::string> images;  // a module is the number of its image, plus 1
  int shared_fd = -1;
  int events = 0;
};

Gpu& gpu() {
  static Gpu& one = *[] {
    auto* made = new Gpu;
    add_fake_kernels(made->driver);
    add_trusted_kernels(made->driver);
    return made;
  }();
  return one;
}

CUresult code(const LaunchStatus& status) {
  if (status) return kSuccess;
  switch (status.error().kind) {
    case LaunchErrorKind::gpu_fault: return kIllegalAddress;
    case LaunchErrorKind::device_full: return kOutOfMemory;
    case LaunchErrorKind::internal_error: return kDeviceUnavailable;
    default: return kInvalidValueOfCuda;
  }
}

template <class Handle>
Handle handle(std::uint64_t number) {
  return reinterpret_cast<Handle>(number);  // NOLINT(performance-no-int-to-ptr)
}
template <class Handle>
std::uint64_t number(Handle value) {
  return reinterpret_cast<std::uint64_t>(value);
}

KernelHandle kernel_of(CUfunction function) {
  return static_cast<KernelHandle>(number(function) - 1);
}

/// Returns the sizes of the kernel's parameters.
std::vector<std::size_t> sizes_of(CUfunction function) {
  const KernelFacts facts = gpu().driver.kernel_facts(kernel_of(function));
  return facts.param_bytes.value_or(std::vector<std::size_t>());
}

}  // namespace

ASSAY_EXPORT CUresult cuInit(unsigned) { return kSuccess; }
ASSAY_EXPORT CUresult cuDriverGetVersion(int* version) { return *version = 13000, kSuccess; }
ASSAY_EXPORT CUresult cuGetErrorString(CUresult, const char** text) {
  return *text = "an error of the fake CUDA driver", kSuccess;
}
ASSAY_EXPORT CUresult cuDeviceGet(CUdevice* device, int index) {
  *device = index;
  return index == 0 ? kSuccess : 101;
}
ASSAY_EXPORT CUresult cuDeviceGetCount(int* count) { return *count = 1, kSuccess; }
ASSAY_EXPORT CUresult cuDeviceGetName(char* name, int room, CUdevice) {
  std::strncpy(name, "Fake CUDA GPU", static_cast<std::size_t>(room));
  return kSuccess;
}
ASSAY_EXPORT CUresult cuDeviceGetAttribute(int* value, int attribute, CUdevice) {
  switch (attribute) {
    case kAttributeComputeCapabilityMajor: *value = 9; return kSuccess;
    case kAttributeComputeCapabilityMinor: *value = 0; return kSuccess;
    case kAttributeMultiprocessorCount: *value = 4; return kSuccess;
    case kAttributeClockRate:
    case kAttributeMemoryClockRate: *value = 1'000'000; return kSuccess;
    case kAttributeGlobalMemoryBusWidth: *value = 4096; return kSuccess;
    case kAttributeL2CacheSize: *value = 1 << 20; return kSuccess;
    case kAttributeMaxSharedMemoryPerBlockOptin: *value = 227 << 10; return kSuccess;
    case kAttributePageableMemoryAccess: *value = 0; return kSuccess;
    default: return kInvalidValueOfCuda;
  }
}
ASSAY_EXPORT CUresult cuDeviceGetPCIBusId(char* place, int room, CUdevice) {
  std::strncpy(place, "0000:c1:00.0", static_cast<std::size_t>(room));
  return kSuccess;
}
ASSAY_EXPORT CUresult cuDeviceTotalMem_v2(std::size_t* bytes, CUdevice) {
  return *bytes = FakeDriver::kDefaultMemoryBytes, kSuccess;
}
ASSAY_EXPORT CUresult cuDevicePrimaryCtxRetain(CUcontext* context, CUdevice) {
  return *context = handle<CUcontext>(1), kSuccess;
}
ASSAY_EXPORT CUresult cuCtxSetCurrent(CUcontext) { return kSuccess; }

ASSAY_EXPORT CUresult cuMemAlloc_v2(CUdeviceptr* memory, std::size_t bytes) {
  const LaunchResult<DevicePtr> made = gpu().driver.allocate(bytes);
  if (!made) return code(launch_fail(made.error()));
  return *memory = *made, kSuccess;
}
ASSAY_EXPORT CUresult cuMemFree_v2(CUdeviceptr memory) {
  return gpu().driver.free(memory), kSuccess;
}
// A memory file takes the place of shared device memory. FakeDriver maps it in one step, at an
// address that it chooses. The handle of an allocation is its file's descriptor, plus 1.
ASSAY_EXPORT CUresult cuMemGetAllocationGranularity(std::size_t* bytes, const void*, int) {
  return *bytes = kGranularityBytes, kSuccess;
}
ASSAY_EXPORT CUresult cuMemCreate(CUmemGenericAllocationHandle* handle, std::size_t bytes,
                                  const void*, unsigned long long) {
  if (bytes % kGranularityBytes != 0) return kInvalidValueOfCuda;
  const int fd = ::memfd_create("fake-gpu-memory", MFD_CLOEXEC | MFD_ALLOW_SEALING);
  if (fd < 0 || ::ftruncate(fd, static_cast<off_t>(bytes)) != 0 ||
      ::fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK) != 0)
    return kOutOfMemory;
  gpu().shared_fd = fd;
  return *handle = static_cast<CUmemGenericAllocationHandle>(fd) + 1, kSuccess;
}
ASSAY_EXPORT CUresult cuMemExportToShareableHandle(void* descriptor,
                                                   CUmemGenericAllocationHandle handle, int,
                                                   unsigned long long) {
  const int fd = ::dup(static_cast<int>(handle) - 1);
  if (fd < 0) return kInvalidValueOfCuda;
  return *static_cast<int*>(descriptor) = fd, kSuccess;
}
ASSAY_EXPORT CUresult cuMemImportFromShareableHandle(CUmemGenericAllocationHandle* handle,
                                                     void* descriptor, int) {
  gpu().shared_fd = static_cast<int>(number(descriptor));
  return *handle = 1, kSuccess;
}
ASSAY_EXPORT CUresult cuMemRelease(CUmemGenericAllocationHandle) { return kSuccess; }
ASSAY_EXPORT CUresult cuMemAddressReserve(CUdeviceptr* base, std::size_t bytes, std::size_t,
                                          CUdeviceptr, unsigned long long) {
  const LaunchResult<DevicePtr> mapped = gpu().driver.map_shared(gpu().shared_fd, bytes);
  if (!mapped) return kInvalidValueOfCuda;
  return *base = *mapped, kSuccess;
}
ASSAY_EXPORT CUresult cuMemAddressFree(CUdeviceptr base, std::size_t) {
  return code(gpu().driver.unmap_shared(base));
}
ASSAY_EXPORT CUresult cuMemMap(CUdeviceptr, std::size_t, std::size_t, CUmemGenericAllocationHandle,
                               unsigned long long) {
  return kSuccess;
}
ASSAY_EXPORT CUresult cuMemUnmap(CUdeviceptr, std::size_t) { return kSuccess; }
ASSAY_EXPORT CUresult cuMemSetAccess(CUdeviceptr, std::size_t, const CUmemAccessDesc*,
                                     std::size_t) {
  return kSuccess;
}

ASSAY_EXPORT CUresult cuMemHostAlloc(void** memory, std::size_t bytes, unsigned) {
  return *memory = std::calloc(1, bytes), kSuccess;
}
ASSAY_EXPORT CUresult cuMemFreeHost(void* memory) { return std::free(memory), kSuccess; }
ASSAY_EXPORT CUresult cuMemHostGetDevicePointer_v2(CUdeviceptr* device, void* memory, unsigned) {
  return *device = number(memory), kSuccess;
}
ASSAY_EXPORT CUresult cuMemcpyHtoDAsync_v2(CUdeviceptr to, const void* from, std::size_t bytes,
                                           CUstream) {
  return code(gpu().driver.write(to, {static_cast<const std::byte*>(from), bytes}));
}
ASSAY_EXPORT CUresult cuMemcpyDtoHAsync_v2(void* to, CUdeviceptr from, std::size_t bytes,
                                           CUstream) {
  return code(gpu().driver.read({static_cast<std::byte*>(to), bytes}, from));
}
ASSAY_EXPORT CUresult cuMemcpyDtoDAsync_v2(CUdeviceptr to, CUdeviceptr from, std::size_t bytes,
                                           CUstream) {
  return code(gpu().driver.copy_async(to, from, bytes));
}
ASSAY_EXPORT CUresult cuMemsetD8Async(CUdeviceptr to, unsigned char value, std::size_t count,
                                      CUstream) {
  return code(gpu().driver.fill_async(to, count, 1, value));
}
ASSAY_EXPORT CUresult cuMemsetD16Async(CUdeviceptr to, unsigned short value, std::size_t count,
                                       CUstream) {
  return code(gpu().driver.fill_async(to, count, 2, value));
}
ASSAY_EXPORT CUresult cuMemsetD32Async(CUdeviceptr to, unsigned value, std::size_t count,
                                       CUstream) {
  return code(gpu().driver.fill_async(to, count, 4, value));
}

ASSAY_EXPORT CUresult cuLinkCreate_v2(unsigned, int*, void**, CUlinkState* state) {
  return *state = handle<CUlinkState>(number(new std::string)), kSuccess;
}
ASSAY_EXPORT CUresult cuLinkAddData_v2(CUlinkState state, int, void* data, std::size_t bytes,
                                       const char*, unsigned, int*, void**) {
  handle<std::string*>(number(state))->assign(static_cast<const char*>(data), bytes);
  return kSuccess;
}
ASSAY_EXPORT CUresult cuLinkComplete(CUlinkState state, void** image, std::size_t* bytes) {
  std::string& text = *handle<std::string*>(number(state));
  *image = text.data();
  *bytes = text.size();
  return kSuccess;
}
ASSAY_EXPORT CUresult cuLinkDestroy(CUlinkState state) {
  delete handle<std::string*>(number(state));
  return kSuccess;
}
ASSAY_EXPORT CUresult cuModuleLoadData(CUmodule* module, const void* image) {
  if (*static_cast<const char*>(image) == '\0') return kInvalidImage;
  gpu().images.emplace_back();
  return *module = handle<CUmodule>(gpu().images.size()), kSuccess;
}
ASSAY_EXPORT CUresult cuModuleUnload(CUmodule) { return kSuccess; }
ASSAY_EXPORT CUresult cuModuleGetFunction(CUfunction* function, CUmodule, const char* name) {
  if (std::strcmp(name, "no_such_kernel") == 0) return kNotFound;
  const LaunchResult<KernelHandle> loaded = gpu().driver.load("", name, 0);
  if (!loaded) return code(launch_fail(loaded.error()));
  return *function = handle<CUfunction>(*loaded + 1), kSuccess;
}
ASSAY_EXPORT CUresult cuFuncGetAttribute(int* value, int attribute, CUfunction function) {
  const KernelFacts& facts =
      gpu().driver.kernel_facts(static_cast<KernelHandle>(number(function) - 1));
  switch (attribute) {
    case kFunctionNumRegs: *value = static_cast<int>(facts.registers); return kSuccess;
    case kFunctionMaxThreadsPerBlock: *value = 1024; return kSuccess;
    default: *value = 0; return kSuccess;
  }
}
ASSAY_EXPORT CUresult cuFuncSetAttribute(CUfunction, int, int) { return kSuccess; }
ASSAY_EXPORT CUresult cuFuncSetCacheConfig(CUfunction, int) { return kSuccess; }
ASSAY_EXPORT CUresult cuLaunchKernel(CUfunction function, unsigned grid_x, unsigned grid_y,
                                     unsigned grid_z, unsigned block_x, unsigned block_y,
                                     unsigned block_z, unsigned shared_bytes, CUstream,
                                     void** params, void** extra) {
  if (params != nullptr) return kInvalidValueOfCuda;
  const std::byte* bytes = extra == nullptr ? nullptr : static_cast<std::byte*>(extra[1]);
  const std::size_t given = extra == nullptr ? 0 : *static_cast<std::size_t*>(extra[3]);
  std::vector<ParamValue> values;
  std::size_t end = 0;
  for (const std::size_t size : sizes_of(function)) {
    end = (end + size - 1) / size * size;
    if (end + size > given) return kInvalidValueOfCuda;
    ParamValue value{0, static_cast<std::uint32_t>(size)};
    std::memcpy(&value.value, bytes + end, size);
    values.push_back(value);
    end += size;
  }
  LaunchShape shape;
  shape.grid = {grid_x, grid_y, grid_z};
  shape.block = {block_x, block_y, block_z};
  shape.shared_bytes = shared_bytes;
  return code(gpu().driver.launch_async(kernel_of(function), shape, values));
}
ASSAY_EXPORT CUresult cuOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, CUfunction, int,
                                                                  std::size_t) {
  return *blocks = kBlocksEach, kSuccess;
}
ASSAY_EXPORT CUresult cuLaunchCooperativeKernel(CUfunction function, unsigned grid_x,
                                                unsigned grid_y, unsigned grid_z, unsigned block_x,
                                                unsigned block_y, unsigned block_z,
                                                unsigned shared_bytes, CUstream, void** params) {
  std::vector<ParamValue> values;
  for (const std::size_t size : sizes_of(function)) {
    ParamValue value{0, static_cast<std::uint32_t>(size)};
    std::memcpy(&value.value, params[values.size()], size);
    values.push_back(value);
  }
  LaunchShape shape;
  shape.grid = {grid_x, grid_y, grid_z};
  shape.block = {block_x, block_y, block_z};
  shape.shared_bytes = shared_bytes;
  shape.cooperative = true;
  return code(gpu().driver.launch_async(kernel_of(function), shape, values));
}

ASSAY_EXPORT CUresult cuStreamCreate(CUstream* stream, unsigned) {
  return *stream = handle<CUstream>(1), kSuccess;
}
ASSAY_EXPORT CUresult cuStreamDestroy_v2(CUstream) { return kSuccess; }
ASSAY_EXPORT CUresult cuStreamSynchronize(CUstream) { return code(gpu().driver.synchronize()); }
ASSAY_EXPORT CUresult cuStreamWaitValue32_v2(CUstream, CUdeviceptr, std::uint32_t, unsigned) {
  return kSuccess;
}
ASSAY_EXPORT CUresult cuEventCreate(CUevent* event, unsigned) {
  return *event = handle<CUevent>(static_cast<std::uint64_t>(++gpu().events)), kSuccess;
}
ASSAY_EXPORT CUresult cuEventDestroy_v2(CUevent) { return kSuccess; }
ASSAY_EXPORT CUresult cuEventRecord(CUevent event, CUstream) {
  // The launcher creates the event of the start first.
  return code(number(event) % 2 == 1 ? gpu().driver.mark_start() : gpu().driver.mark_stop());
}
ASSAY_EXPORT CUresult cuEventElapsedTime(float* ms, CUevent, CUevent) {
  const LaunchResult<double> ns = gpu().driver.elapsed_ns();
  if (!ns) return code(launch_fail(ns.error()));
  return *ms = static_cast<float>(*ns / 1e6), kSuccess;
}

// The fake driver has each function that the stand-in libraries load, with the same signature.
#define ASSAY_CHECK_FAKE(symbol, ...) \
  static_assert(std::is_same_v<decltype(symbol), std::type_identity_t<__VA_ARGS__>>, #symbol);
ASSAY_CUDA_CALLS(ASSAY_CHECK_FAKE)
#undef ASSAY_CHECK_FAKE
