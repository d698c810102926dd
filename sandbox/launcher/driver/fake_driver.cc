#include "sandbox/launcher/driver/fake_driver.h"

#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <utility>

#include "sandbox/jail/layer.h"

namespace assay::sandbox {
namespace {

constexpr DevicePtr kFirstAddress = 0x7f00'0000'0000;
// The size of the unused address space between two allocations. An access outside of an allocation
// reaches this space instead of another allocation.
constexpr std::uint64_t kAddressGap = 1ULL << 20;
constexpr std::uint64_t kAllocationAlignment = 256;
constexpr double kOperationNs = 2000;
constexpr double kBytesPerNs = 1000;

LaunchStatus illegal_address() {
  return launch_fail(
      LaunchErrorKind::gpu_fault,
      "running on the GPU: FAKE_ERROR_ILLEGAL_ADDRESS (an illegal memory access was encountered)");
}

LaunchStatus vector_add(FakeLaunch& launch) {
  const auto n = static_cast<std::uint32_t>(launch.params[3].value);
  const std::byte* x = launch.memory(0, 0, n * sizeof(float));
  const std::byte* y = launch.memory(1, 0, n * sizeof(float));
  std::byte* out = launch.memory(2, 0, n * sizeof(float));
  if (x == nullptr || y == nullptr || out == nullptr) return illegal_address();
  for (std::size_t i = 0; i < n; ++i) {
    float a = 0;
    float b = 0;
    std::memcpy(&a, x + i * sizeof(float), sizeof(float));
    std::memcpy(&b, y + i * sizeof(float), sizeof(float));
    const float sum = a + b;
    std::memcpy(out + i * sizeof(float), &sum, sizeof(float));
  }
  return {};
}

/// Acts like a cheating kernel: writes the sum at the first launch, and nothing at later launches.
LaunchStatus add_once(FakeLaunch& launch) {
  return launch.variable++ == 0 ? vector_add(launch) : LaunchStatus();
}

/// Writes the sum into the input x.
LaunchStatus add_in_place(FakeLaunch& launch) {
  launch.params[2] = launch.params[0];
  return vector_add(launch);
}

/// Copies floats: y = x. The kernel's parameters are x, y, the count, and the two pointers that
/// Triton adds.
LaunchStatus copy_floats(FakeLaunch& launch) {
  const std::uint64_t bytes = static_cast<std::uint32_t>(launch.params[2].value) * sizeof(float);
  const std::byte* x = launch.memory(0, 0, bytes);
  std::byte* y = launch.memory(1, 0, bytes);
  if (x == nullptr || y == nullptr) return illegal_address();
  std::memcpy(y, x, bytes);
  return {};
}

/// The same at the first launch; does nothing at later launches.
LaunchStatus copy_once(FakeLaunch& launch) {
  return launch.variable++ == 0 ? copy_floats(launch) : LaunchStatus();
}

LaunchStatus copy_and_spoil(FakeLaunch& launch) {
  LaunchStatus copied = copy_floats(launch);
  if (std::byte* x = launch.memory(0, 0, 1); copied && x != nullptr) *x ^= std::byte{1};
  return copied;
}

LaunchStatus write_byte(FakeLaunch& launch) {
  std::byte* target = launch.memory(0, static_cast<std::int64_t>(launch.params[1].value), 1);
  if (target == nullptr) return illegal_address();
  *target = std::byte{1};
  return {};
}

/// Makes a system call, and stores its return value or the negative errno in the kernel's parameter
/// `result`.
LaunchStatus system_call(FakeLaunch& launch) {
  constexpr std::size_t kResult = 0, kNumber = 1, kFirst = 2;
  std::array<long, 6> arguments{};
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const std::byte* memory = launch.memory(kFirst + i, 0, 1);
    arguments[i] = memory != nullptr ? static_cast<long>(reinterpret_cast<std::intptr_t>(memory))
                                     : static_cast<long>(launch.params[kFirst + i].value);
  }
  const auto& [a, b, c, d, e, f] = arguments;
  const long returned =
      ::syscall(static_cast<long>(launch.params[kNumber].value), a, b, c, d, e, f);
  const std::int64_t result = returned < 0 ? -static_cast<std::int64_t>(errno) : returned;
  std::byte* target = launch.memory(kResult, 0, sizeof result);
  if (target == nullptr) return illegal_address();
  std::memcpy(target, &result, sizeof result);
  return {};
}

LaunchStatus endless(FakeLaunch&) {
  while (true) ::pause();
}

}  // namespace

std::byte* FakeLaunch::memory(std::size_t param, std::int64_t offset, std::uint64_t bytes) const {
  return param < params.size()
             ? gpu.translate(params[param].value + static_cast<std::uint64_t>(offset), bytes)
             : nullptr;
}

FakeDriver::FakeDriver(std::uint64_t memory_bytes) : next_address_(kFirstAddress) {
  facts_.name = "Fake GPU";
  facts_.target = "cuda:90";
  facts_.cc = "9.0";
  facts_.sms = 4;
  facts_.l2_bytes = 1 << 20;
  facts_.memory_bytes = static_cast<std::int64_t>(memory_bytes);
  facts_.clock_khz = 1'000'000;
  facts_.bandwidth_bytes_per_s = static_cast<std::int64_t>(kBytesPerNs * 1e9);
  facts_.driver = "fake";
}

void FakeDriver::add_kernel(const std::string& name, std::vector<std::size_t> param_bytes,
                            FakeKernel body) {
  known_[name] = Known{std::move(param_bytes), std::move(body)};
}

std::size_t FakeDriver::loaded_kernels() const {
  return static_cast<std::size_t>(std::count_if(
      loaded_.begin(), loaded_.end(), [](const Loaded& kernel) { return !kernel.unloaded; }));
}

LaunchStatus FakeDriver::usable() const {
  if (lost_) return launch_fail(lost_->kind, lost_->message);
  return {};
}

LaunchStatus FakeDriver::illegal_address() {
  lost_ = LaunchError{
      LaunchErrorKind::gpu_fault,
      "running on the GPU: FAKE_ERROR_ILLEGAL_ADDRESS (an illegal memory access was encountered)"};
  return usable();
}

std::byte* FakeDriver::translate(DevicePtr address, std::uint64_t bytes) {
  const auto within = [&](auto& memory) -> std::byte* {
    auto found = memory.upper_bound(address);
    if (found == memory.begin()) return nullptr;
    --found;
    const std::uint64_t offset = address - found->first;
    const std::uint64_t size = found->second.size();
    return offset > size || bytes > size - offset ? nullptr : found->second.data() + offset;
  };
  std::byte* own = within(memory_);
  return own != nullptr ? own : within(shared_);
}

LaunchResult<DevicePtr> FakeDriver::map_shared(int fd, std::uint64_t bytes) {
  ++calls_.maps;
  if (LaunchStatus s = usable(); !s) return tl::unexpected(s.error());
  Result<Mapping> mapping = Mapping::map(fd, bytes, true);
  if (!mapping)
    return launch_fail(LaunchErrorKind::internal_error,
                       "importing shared memory: " + mapping.error().message);
  const DevicePtr address = next_address_;
  next_address_ +=
      (bytes + kAllocationAlignment - 1) / kAllocationAlignment * kAllocationAlignment +
      kAddressGap;
  shared_.emplace(address, std::move(*mapping));
  return address;
}

LaunchStatus FakeDriver::hide_shared(DevicePtr memory) {
  auto mapped = shared_.extract(memory);
  if (mapped.empty())
    return launch_fail(LaunchErrorKind::internal_error, "hiding shared memory that is not mapped");
  hidden_.insert(std::move(mapped));
  return {};
}

LaunchStatus FakeDriver::show_shared(DevicePtr memory) {
  ++calls_.shows;
  auto hidden = hidden_.extract(memory);
  if (hidden.empty())
    return launch_fail(LaunchErrorKind::internal_error, "showing shared memory that is not hidden");
  shared_.insert(std::move(hidden));
  return {};
}

LaunchStatus FakeDriver::unmap_shared(DevicePtr memory) {
  if (shared_.erase(memory) + hidden_.erase(memory) == 0)
    return launch_fail(LaunchErrorKind::internal_error,
                       "unmapping shared memory that is not mapped");
  return {};
}

LaunchResult<DevicePtr> FakeDriver::allocate(std::uint64_t bytes) {
  ++calls_.allocations;
  if (LaunchStatus s = usable(); !s) return tl::unexpected(s.error());
  if (bytes > static_cast<std::uint64_t>(facts_.memory_bytes) - taken_ - allocated_) {
    return launch_fail(LaunchErrorKind::device_full,
                       "allocating " + std::to_string(bytes) +
                           " bytes of GPU memory: FAKE_ERROR_OUT_OF_MEMORY (out of memory)");
  }
  const DevicePtr address = next_address_;
  next_address_ +=
      (bytes + kAllocationAlignment - 1) / kAllocationAlignment * kAllocationAlignment +
      kAddressGap;
  memory_[address].resize(bytes, std::byte{0xAB});
  allocated_ += bytes;
  return address;
}

void FakeDriver::free(DevicePtr memory) {
  const auto found = memory_.find(memory);
  if (found == memory_.end()) return;
  allocated_ -= found->second.size();
  memory_.erase(found);
}

LaunchStatus FakeDriver::write(DevicePtr to, std::span<const std::byte> from) {
  if (LaunchStatus s = usable(); !s) return s;
  std::byte* target = translate(to, from.size());
  if (target == nullptr) return illegal_address();
  std::copy(from.begin(), from.end(), target);
  return {};
}

LaunchStatus FakeDriver::read(std::span<std::byte> to, DevicePtr from) {
  if (LaunchStatus s = usable(); !s) return s;
  const std::byte* source = translate(from, to.size());
  if (source == nullptr) return illegal_address();
  std::copy(source, source + to.size(), to.begin());
  return {};
}

LaunchStatus FakeDriver::copy_async(DevicePtr to, DevicePtr from, std::uint64_t bytes) {
  if (LaunchStatus s = usable(); !s) return s;
  std::byte* target = translate(to, bytes);
  const std::byte* source = translate(from, bytes);
  if (target == nullptr || source == nullptr) return illegal_address();
  if (bytes > 0) std::memmove(target, source, bytes);
  clock_ns_ += kOperationNs + static_cast<double>(bytes) / kBytesPerNs;
  return {};
}

LaunchStatus FakeDriver::fill_async(DevicePtr to, std::uint64_t count, std::uint32_t width,
                                    std::uint64_t pattern) {
  if (LaunchStatus s = usable(); !s) return s;
  std::byte* target = translate(to, count * width);
  if (target == nullptr) return illegal_address();
  if (width == 1) {
    std::fill_n(target, count, static_cast<std::byte>(pattern));
  } else {
    for (std::uint64_t i = 0; i < count; ++i) std::memcpy(target + i * width, &pattern, width);
  }
  clock_ns_ += kOperationNs + static_cast<double>(count * width) / kBytesPerNs;
  return {};
}

LaunchResult<KernelHandle> FakeDriver::load(std::string_view, const std::string& kernel,
                                            std::uint32_t) {
  if (LaunchStatus s = usable(); !s) return tl::unexpected(s.error());
  Loaded loaded{kernel, {}, false, 0};
  loaded.facts.registers = 32;
  loaded.facts.max_threads_per_block = 1024;
  if (const auto local = local_bytes_.find(kernel); local != local_bytes_.end())
    loaded.facts.local_bytes = local->second;
  if (const auto known = known_.find(kernel); known != known_.end())
    loaded.facts.param_bytes = known->second.param_bytes;
  loaded_.push_back(std::move(loaded));
  return static_cast<KernelHandle>(loaded_.size() - 1);
}

void FakeDriver::unload(KernelHandle kernel) { loaded_[kernel].unloaded = true; }

LaunchStatus FakeDriver::reload(KernelHandle kernel, std::string_view, const std::string&,
                                std::uint32_t) {
  loaded_[kernel].variable = 0;
  return usable();
}

LaunchStatus FakeDriver::launch_async(KernelHandle kernel, const LaunchShape& shape,
                                      std::span<const ParamValue> params) {
  if (LaunchStatus s = usable(); !s) return s;
  const std::string& name = loaded_[kernel].name;
  launches_.push_back({name, shape, {params.begin(), params.end()}});
  jitter_ = jitter_ * 1664525u + 1013904223u;
  const auto fixed = kernel_ns_.find(name);
  clock_ns_ += (fixed == kernel_ns_.end() ? kOperationNs : fixed->second) +
               static_cast<double>(jitter_ >> 24) / 10.0;
  const auto known = known_.find(name);
  if (known == known_.end()) return {};
  FakeLaunch launch{*this, shape, {params.begin(), params.end()}, loaded_[kernel].variable};
  if (LaunchStatus ran = known->second.body(launch); !ran) {
    // As on a GPU, the launch itself succeeds. The next wait reports the fault, and the context is
    // lost.
    lost_ = ran.error();
  }
  return {};
}

LaunchResult<TensorMap> FakeDriver::encode_tensor_map(const TensorMapSpec& spec) {
  if (LaunchStatus s = usable(); !s) return tl::unexpected(s.error());
  TensorMap map;
  std::memcpy(map.bytes.data(), &spec.base, sizeof(spec.base));
  return map;
}

LaunchStatus FakeDriver::synchronize() { return usable(); }

LaunchStatus FakeDriver::mark_start() {
  start_ns_ = clock_ns_;
  return usable();
}

LaunchStatus FakeDriver::mark_stop() {
  stop_ns_ = clock_ns_;
  return usable();
}

LaunchResult<double> FakeDriver::elapsed_ns() {
  if (LaunchStatus s = usable(); !s) return tl::unexpected(s.error());
  return stop_ns_ - start_ns_;
}

void add_fake_kernels(FakeDriver& gpu) {
  gpu.add_kernel("fake_vector_add", {8, 8, 8, 4}, vector_add);
  gpu.add_kernel("fake_add_once", {8, 8, 8, 4}, add_once);
  gpu.add_kernel("fake_add_in_place", {8, 8, 8, 4}, add_in_place);
  gpu.add_kernel("fake_copy", {8, 8, 4, 8, 8}, copy_floats);
  gpu.add_kernel("fake_copy_once", {8, 8, 4, 8, 8}, copy_once);
  gpu.add_kernel("fake_copy_and_spoil", {8, 8, 4, 8, 8}, copy_and_spoil);
  gpu.add_kernel("fake_write_byte", {8, 8}, write_byte);
  gpu.add_kernel("fake_nothing", {8, 8, 8}, [](FakeLaunch&) { return LaunchStatus{}; });
  gpu.add_kernel("fake_illegal_address", {}, [](FakeLaunch&) { return illegal_address(); });
  gpu.add_kernel("fake_fault", {8, 8}, [](FakeLaunch&) { return illegal_address(); });
  gpu.add_kernel("fake_endless", {}, endless);
  gpu.add_kernel("fake_reset", {}, [](FakeLaunch& launch) {
    launch.gpu.lose_memory();
    return launch.gpu.synchronize();
  });
  if (mutations_possible())
    gpu.add_kernel("fake_system_call", {8, 8, 8, 8, 8, 8, 8, 8}, system_call);
}

}  // namespace assay::sandbox
