// Tests HipDriver with a table of functions that work on host memory. So its calls of HIP are
// checked without AMD hardware.
#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "sandbox/launcher/driver/open_driver.h"
#include "tests/catch.h"

using namespace assay;
using namespace assay::sandbox;
using namespace assay::sandbox::hip;

namespace {

struct Launched {
  unsigned grid = 0, block = 0, shared = 0;
  std::vector<std::byte> parameters;
  std::size_t zeros_behind = 0;
};
Launched last;
int loaded = 0;
int runtime_version = kFirstDescriptorByValue;
constexpr int kSharedFd = 3;
constexpr std::size_t kUnmappableBytes = 7;
// Behind the two arguments that a test passes, the image of the cooperative kernel declares more.
constexpr std::size_t kDeclared = 100;
std::vector<std::uint64_t> together;  // the arguments of the last cooperative launch

HipApi host_memory() {
  HipApi api;
  api.hipDriverGetVersion = [](int* version) { return *version = runtime_version, kSuccess; };
  api.hipGetErrorName = [](HipResult) { return "NAME"; };
  api.hipGetErrorString = [](HipResult) { return "words"; };
  api.hipSetDevice = [](int) { return kSuccess; };
  api.hipStreamCreateWithFlags = [](HipStream*, unsigned) { return kSuccess; };
  api.hipEventCreateWithFlags = [](HipEvent*, unsigned) { return kSuccess; };
  api.hipStreamSynchronize = [](HipStream) { return kSuccess; };
  api.hipDeviceGetAttribute = [](int* value, int, int) { return *value = 0, kSuccess; };
  api.hipMalloc = [](void** memory, std::size_t bytes) {
    if (bytes > (1 << 20)) return kOutOfMemory;
    *memory = std::malloc(bytes);
    return kSuccess;
  };
  api.hipFree = [](void* memory) { return std::free(memory), kSuccess; };
  const auto copy = [](void* to, void* from, std::size_t bytes, HipStream) {
    return std::memcpy(to, from, bytes), kSuccess;
  };
  api.hipMemcpyHtoDAsync = api.hipMemcpyDtoHAsync = api.hipMemcpyDtoDAsync = copy;
  api.hipMemImportFromShareableHandle = [](HipMemHandle* handle, void* descriptor, int type) {
    const bool by_value = runtime_version >= kFirstDescriptorByValue;
    const auto number = reinterpret_cast<std::uintptr_t>(descriptor);
    const auto fd = by_value ? static_cast<int>(number) : *static_cast<const int*>(descriptor);
    if (fd != kSharedFd || type != kHandleTypePosixFd) return 1;
    return *handle = reinterpret_cast<HipMemHandle>(&last), kSuccess;
  };
  api.hipMemRelease = [](HipMemHandle) { return kSuccess; };
  api.hipMemAddressReserve = [](void** base, std::size_t bytes, std::size_t, void*,
                                unsigned long long) {
    return *base = std::malloc(bytes), kSuccess;
  };
  api.hipMemAddressFree = [](void* base, std::size_t) { return std::free(base), kSuccess; };
  api.hipMemMap = [](void*, std::size_t bytes, std::size_t, HipMemHandle, unsigned long long) {
    return bytes == kUnmappableBytes ? 1 : kSuccess;
  };
  api.hipMemUnmap = [](void*, std::size_t) { return kSuccess; };
  api.hipMemSetAccess = [](void*, std::size_t, const HipMemAccessDesc* access, std::size_t count) {
    const bool right = count == 1 && access->location.type == kLocationDevice &&
                       access->location.id == 0 && access->flags == kAccessReadWrite;
    return right ? kSuccess : 1;
  };
  api.hipMemsetD8Async = [](void* to, unsigned char value, std::size_t count, HipStream) {
    return std::fill_n(static_cast<unsigned char*>(to), count, value), kSuccess;
  };
  api.hipMemsetD16Async = [](void* to, unsigned short value, std::size_t count, HipStream) {
    return std::fill_n(static_cast<unsigned short*>(to), count, value), kSuccess;
  };
  api.hipMemsetD32Async = [](void* to, int value, std::size_t count, HipStream) {
    return std::fill_n(static_cast<int*>(to), count, value), kSuccess;
  };
  api.hipModuleLoadData = [](HipModule* module, const void*) {
    return ++loaded, *module = reinterpret_cast<HipModule>(&last), kSuccess;
  };
  api.hipModuleUnload = [](HipModule) { return --loaded, kSuccess; };
  api.hipModuleGetFunction = [](HipFunction*, HipModule, const char* name) {
    return std::strcmp(name, "kernel") == 0 ? kSuccess : 500;
  };
  api.hipFuncGetAttribute = [](int* value, int which, HipFunction) {
    return *value = 10 + which, kSuccess;
  };
  api.hipModuleLaunchKernel = [](HipFunction, unsigned gx, unsigned, unsigned, unsigned bx,
                                 unsigned, unsigned, unsigned shared, HipStream, void** params,
                                 void** extra) {
    const auto* bytes = static_cast<const std::byte*>(extra[1]);
    const std::size_t size = *static_cast<const std::size_t*>(extra[3]);
    last = {gx, bx, shared, {bytes, bytes + size}, 0};
    while (last.zeros_behind < 4096 && bytes[size + last.zeros_behind] == std::byte{0})
      ++last.zeros_behind;
    return params == nullptr ? kSuccess : kUnknown;
  };
  api.hipModuleOccupancyMaxActiveBlocksPerMultiprocessor = [](int* blocks, HipFunction, int threads,
                                                              std::size_t shared) {
    return *blocks = threads == 64 && shared == 128 ? 2 : 0, kSuccess;
  };
  api.hipModuleLaunchCooperativeKernel = [](HipFunction, unsigned gx, unsigned, unsigned,
                                            unsigned bx, unsigned, unsigned, unsigned shared,
                                            HipStream, void** params) {
    last = {gx, bx, shared, {}, 0};
    together.assign(kDeclared, 1);
    for (std::size_t i = 0; i < kDeclared; ++i)
      std::memcpy(&together[i], params[i], sizeof together[i]);
    return kSuccess;
  };
  return api;
}

LaunchShape shape(std::uint32_t blocks) {
  LaunchShape made;
  made.grid = {blocks, 1, 1};
  made.block = {64, 1, 1};
  made.shared_bytes = 128;
  return made;
}

std::unique_ptr<GpuDriver> open(const HipApi& api) {
  DeviceFacts facts;
  facts.target = "hip:gfx942";
  facts.sms = 4;
  LaunchResult<std::unique_ptr<GpuDriver>> gpu = make_hip_driver(api, 0, std::move(facts));
  REQUIRE(gpu);
  return std::move(*gpu);
}

}  // namespace

TEST_CASE("HIP: fills of every width, whatever the pattern") {
  const HipApi api = host_memory();
  const auto gpu = open(api);
  constexpr std::size_t kBytes = 80;
  const DevicePtr memory = gpu->allocate(kBytes).value();
  for (const std::uint32_t width : {1U, 2U, 4U, 8U}) {
    for (const std::uint64_t pattern :
         {std::uint64_t{0}, std::uint64_t{0x0102030405060708}, std::uint64_t{0x1111111111111111}}) {
      REQUIRE(gpu->fill_async(memory, kBytes / 8 * 8 / width, width, pattern));
      std::vector<std::byte> seen(kBytes);
      REQUIRE(gpu->read(seen, memory));
      for (std::size_t at = 0; at < kBytes; at += width)
        CHECK(std::memcmp(seen.data() + at, &pattern, width) == 0);
    }
  }
  gpu->free(memory);
  CHECK(gpu->allocate(std::uint64_t{1} << 30).error().kind == LaunchErrorKind::device_full);
}

TEST_CASE("HIP: parameters lie at multiples of their sizes, with zeros behind them") {
  const HipApi api = host_memory();
  const auto gpu = open(api);
  const KernelHandle kernel = gpu->load("image", "kernel", 0).value();
  CHECK(gpu->kernel_facts(kernel).registers == 10 + kFunctionNumRegs);
  const std::vector<ParamValue> many(40, ParamValue{~0ULL, 8});
  REQUIRE(gpu->launch_async(kernel, shape(7), many));
  const std::vector<ParamValue> params = {
      {0x11, 1}, {0x2233, 2}, {0x44556677, 4}, {0x1122334455667788, 8}, {0x99, 1}, {0x1, 8}};
  REQUIRE(gpu->launch_async(kernel, shape(3), params));
  CHECK(last.grid == 3);
  CHECK(last.shared == 128);
  CHECK(last.parameters.size() == 32);
  CHECK(last.zeros_behind == 4096);
  std::uint64_t fourth = 0;
  std::memcpy(&fourth, last.parameters.data() + 8, sizeof fourth);
  CHECK(fourth == 0x1122334455667788);
  CHECK(last.parameters[16] == std::byte{0x99});
  CHECK(last.parameters[24] == std::byte{1});
}

TEST_CASE("HIP: a cooperative launch needs room for all of its blocks, and gets all arguments") {
  HipApi api = host_memory();
  const auto gpu = open(api);
  const KernelHandle kernel = gpu->load("image", "kernel", 0).value();
  LaunchShape eight = shape(8);
  eight.cooperative = true;
  const std::vector<ParamValue> params = {{0x11223344, 4}, {0x1122334455667788, 8}};
  REQUIRE(gpu->launch_async(kernel, eight, params));
  CHECK(last.grid == 8);
  CHECK(last.shared == 128);
  CHECK(static_cast<std::uint32_t>(together[0]) == 0x11223344);
  CHECK(together[1] == 0x1122334455667788);
  CHECK(std::count(together.begin() + 2, together.end(), 0U) == kDeclared - 2);
  eight.grid = {3, 1, 3};
  const LaunchStatus large = gpu->launch_async(kernel, eight, params);
  CHECK(large.error().kind == LaunchErrorKind::launch_failure);
  CHECK(large.error().message.find("at most 8 (2 on each of 4 compute units)") !=
        std::string::npos);
  eight.grid = {~0U, ~0U, ~0U};
  CHECK_FALSE(gpu->launch_async(kernel, eight, params));
  api.hipModuleLaunchCooperativeKernel = nullptr;
  const LaunchStatus old = gpu->launch_async(kernel, eight, params);
  CHECK(old.error().kind == LaunchErrorKind::launch_failure);
  CHECK(old.error().message.find("ROCm 6.0 or newer") != std::string::npos);
}

TEST_CASE("HIP: the driver refuses by name what AMD's GPUs lack") {
  const HipApi api = host_memory();
  const auto gpu = open(api);
  const KernelHandle kernel = gpu->load("image", "kernel", 0).value();
  LaunchShape clustered, dependent;
  clustered.cluster = {2, 1, 1};
  dependent.dependent_launch = true;
  CHECK(gpu->launch_async(kernel, clustered, {}).error().kind == LaunchErrorKind::launch_failure);
  CHECK(gpu->launch_async(kernel, dependent, {}).error().kind == LaunchErrorKind::launch_failure);
  CHECK_FALSE(gpu->encode_tensor_map({}));
  CHECK(gpu->load("image", "other", 0).error().kind == LaunchErrorKind::launch_failure);
}

TEST_CASE("HIP: every module that is loaded is unloaded") {
  const HipApi api = host_memory();
  {
    const auto gpu = open(api);
    const KernelHandle kernel = gpu->load("image", "kernel", 0).value();
    REQUIRE(gpu->reload(kernel, "image", "kernel", 0));
    CHECK(gpu->load("image", "kernel", 0).value() != kernel);
    CHECK(loaded == 2);
  }
  CHECK(loaded == 0);
}

TEST_CASE("HIP: memory of another process is mapped once, and is unmapped once") {
  const HipApi api = host_memory();
  const auto gpu = open(api);
  for (const int version : {kFirstDescriptorByValue, 60'443'483}) {
    runtime_version = version;
    const LaunchResult<DevicePtr> base = gpu->map_shared(kSharedFd, 64);
    REQUIRE(base);
    CHECK_FALSE(gpu->show_shared(*base));
    CHECK(gpu->hide_shared(*base));
    CHECK_FALSE(gpu->hide_shared(*base));
    CHECK(gpu->show_shared(*base));
    CHECK(gpu->hide_shared(*base));
    CHECK(gpu->unmap_shared(*base));
    CHECK_FALSE(gpu->unmap_shared(*base));
    CHECK(gpu->map_shared(9, 64).error().message.find("importing shared memory") == 0);
    CHECK(gpu->map_shared(kSharedFd, kUnmappableBytes)
              .error()
              .message.find("mapping shared memory") == 0);
  }
  runtime_version = kFirstDescriptorByValue;
}
