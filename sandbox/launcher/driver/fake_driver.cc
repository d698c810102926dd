#include "sandbox/launcher/driver/fake_driver.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <utility>

namespace assay::sandbox {
namespace {

constexpr DevicePtr kFirstAddress = 0x7f00'0000'0000;
constexpr std::uint64_t kAddressGap = 1ULL
                                      << 20;  // between allocations: a stray access lands in none
constexpr std::uint64_t kAllocationAlignment = 256;
constexpr double kOperationNs = 2000;
constexpr double kBytesPerNs = 1000;

}  // namespace

std::byte* FakeLaunch::memory(std::size_t param, std::int64_t offset, std::uint64_t bytes) const {
  return param < params.size()
             ? gpu.translate(params[param].value + static_cast<std::uint64_t>(offset), bytes)
             : nullptr;
}

FakeDriver::FakeDriver(std::uint64_t memory_bytes) : next_address_(kFirstAddress) {
  facts_.name = "Fake GPU";
  facts_.target = "cuda:90";
  facts_.cc_major = 9;
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

LaunchStatus FakeDriver::unmap_shared(DevicePtr memory) {
  if (shared_.erase(memory) == 0)
    return launch_fail(LaunchErrorKind::internal_error,
                       "unmapping shared memory that is not mapped");
  return {};
}

LaunchResult<DevicePtr> FakeDriver::allocate(std::uint64_t bytes) {
  if (LaunchStatus s = usable(); !s) return tl::unexpected(s.error());
  if (bytes > static_cast<std::uint64_t>(facts_.memory_bytes) - taken_ - allocated_) {
    return launch_fail(LaunchErrorKind::gpu_memory_limit,
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
    // As on a GPU, a fault shows at the next wait and the context is lost.
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

}  // namespace assay::sandbox
