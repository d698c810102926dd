#include "sandbox/launcher/memory/trusted_kernels.h"

#include <algorithm>
#include <array>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "sandbox/launcher/memory/trusted_hip.h"
#include "sandbox/launcher/memory/trusted_ptx.h"

namespace assay::sandbox {
namespace {

constexpr std::uint32_t kThreads = 1024;
constexpr std::uint32_t kWavesOfBlocks = 2;
constexpr std::uint32_t kTouchThreads = 128;
constexpr std::uint32_t kStrideThreads = 256;
constexpr std::uint64_t kStrideBlocksPerSm = 8;
constexpr std::uint64_t kWordBytes = 16;
constexpr std::size_t kReadings = 2;  // cycles and nanoseconds

struct Text {
  std::string name, text;
  std::uint32_t shared_bytes = 0;
};

/// Returns a launch shape for a kernel that processes `words` words in a grid-wide stride.
LaunchShape grid_stride(const GpuDriver& gpu, std::uint64_t words) {
  LaunchShape shape;
  shape.block[0] = kStrideThreads;
  const auto sms = static_cast<std::uint64_t>(std::max<std::int64_t>(1, gpu.facts().sms));
  shape.grid[0] = static_cast<std::uint32_t>(
      std::min<std::uint64_t>(words / kStrideThreads + 1, kStrideBlocksPerSm * sms));
  return shape;
}

}  // namespace

LaunchResult<TrustedKernels> TrustedKernels::load(GpuDriver& gpu) {
  TrustedKernels trusted(gpu);
  const auto shared = static_cast<std::uint32_t>(gpu.facts().shared_bytes_per_block);
  // The order is that of Which.
  const std::vector<Text> texts{
      {"assay_scrub", ptx::scrub_text(), shared}, {"assay_clock", ptx::kClockText, 0},
      {"assay_touch", ptx::kTouchText, 0},        {"assay_differ", ptx::kDifferText, 0},
      {"assay_mask", ptx::kMaskText, 0},          {"assay_fill", ptx::kFillText, 0},
      {"assay_copy_memory", ptx::kCopyText, 0}};
  // The HIP C++ text of all kernels is one image. Each kernel is loaded from its own copy of it.
  LaunchResult<std::string> whole;
  if (gpu.compiles_hip()) whole = gpu.compile(hip::kTrustedText);
  for (const auto& [name, text, shared_bytes] : texts) {
    LaunchResult<std::string> image = gpu.compiles_hip() ? whole : gpu.compile(text);
    if (!image) return tl::unexpected(image.error());
    LaunchResult<KernelHandle> handle = gpu.load(*image, name, shared_bytes);
    if (!handle) return tl::unexpected(handle.error());
    trusted.kernels_.push_back({name, std::move(*image), shared_bytes, *handle});
  }
  LaunchResult<DevicePtr> reading = gpu.allocate(kReadings * sizeof(std::uint64_t));
  if (!reading) return tl::unexpected(reading.error());
  trusted.reading_ = *reading;
  LaunchResult<DevicePtr> touched = gpu.allocate(static_cast<std::uint64_t>(gpu.facts().sms) *
                                                 kTouchThreads * sizeof(std::uint32_t));
  if (!touched) return tl::unexpected(touched.error());
  trusted.touched_ = *touched;
  return trusted;
}

TrustedKernels::TrustedKernels(TrustedKernels&& other) noexcept
    : gpu_(other.gpu_),
      kernels_(std::exchange(other.kernels_, {})),
      reading_(std::exchange(other.reading_, 0)),
      touched_(std::exchange(other.touched_, 0)) {}

TrustedKernels::~TrustedKernels() {
  for (const Loaded& kernel : kernels_) gpu_->unload(kernel.handle);
  for (const DevicePtr memory : {reading_, touched_}) {
    if (memory != 0) gpu_->free(memory);
  }
}

LaunchStatus TrustedKernels::rehearse() {
  constexpr std::uint64_t kBytes = 256;
  LaunchResult<DevicePtr> memory = gpu_->allocate(2 * kBytes);
  if (!memory) return launch_fail(memory.error());
  const DevicePtr from = *memory, to = from + kBytes;
  LaunchStatus done;
  for (const std::uint32_t width : {1U, 8U}) {
    if (done) done = gpu_->fill_async(from, kBytes / width, width, 0);
  }
  if (done) done = copy_async(to, from, kBytes);
  const LaunchResult<bool> equal = done ? same(from, to, kBytes) : tl::unexpected(done.error());
  gpu_->free(from);
  if (!equal) return launch_fail(equal.error());
  if (!*equal)
    return launch_fail(LaunchErrorKind::internal_error, "a copy on the device is not equal");
  return {};
}

LaunchStatus TrustedKernels::refresh() { return refresh_from(Which::scrub); }

LaunchStatus TrustedKernels::refresh_those_of_memory() { return refresh_from(Which::differ); }

LaunchStatus TrustedKernels::refresh_from(Which first) {
  for (std::size_t i = static_cast<std::size_t>(first); i < kernels_.size(); ++i) {
    const Loaded& kernel = kernels_[i];
    if (LaunchStatus s =
            gpu_->reload(kernel.handle, kernel.image, kernel.name, kernel.shared_bytes);
        !s)
      return s;
  }
  return {};
}

LaunchStatus TrustedKernels::launch_async(Which which, const LaunchShape& shape,
                                          std::span<const ParamValue> params) {
  return gpu_->launch_async(kernels_[static_cast<std::size_t>(which)].handle, shape, params);
}

LaunchStatus TrustedKernels::scrub_async() {
  LaunchShape shape;
  // A multiprocessor can run only one of these blocks at a time. There are more blocks than
  // multiprocessors, so that the first wave of blocks reaches every multiprocessor.
  shape.grid[0] = kWavesOfBlocks * static_cast<std::uint32_t>(gpu_->facts().sms);
  shape.block[0] = kThreads;
  shape.shared_bytes = static_cast<std::uint32_t>(gpu_->facts().shared_bytes_per_block);
  const std::array<ParamValue, 1> params{{{shape.shared_bytes, sizeof(std::uint32_t)}}};
  return launch_async(Which::scrub, shape, params);
}

LaunchStatus TrustedKernels::read_clock_async() {
  const std::array<ParamValue, 2> params{
      {{reading_, sizeof(std::uint64_t)}, {kClockSpinNs, sizeof(std::uint64_t)}}};
  return launch_async(Which::clock, LaunchShape(), params);
}

LaunchStatus TrustedKernels::touch_async() {
  LaunchShape shape;
  shape.grid[0] = static_cast<std::uint32_t>(gpu_->facts().sms);
  shape.block[0] = kTouchThreads;
  const std::array<ParamValue, 1> params{{{touched_, sizeof(std::uint64_t)}}};
  return launch_async(Which::touch, shape, params);
}

LaunchResult<bool> TrustedKernels::same(DevicePtr a, DevicePtr b, std::uint64_t bytes) {
  if (bytes == 0) return true;
  // The driver's fill could have been overwritten, and shared memory is mapped (shared_buffers.h).
  if (LaunchStatus s = fill_async(reading_, sizeof(std::uint32_t), 0); !s)
    return tl::unexpected(s.error());
  const LaunchShape shape = grid_stride(*gpu_, bytes / kWordBytes);
  const std::array<ParamValue, 5> params{
      {{a, 8}, {b, 8}, {bytes / kWordBytes, 8}, {bytes % kWordBytes, 8}, {reading_, 8}}};
  if (LaunchStatus s = launch_async(Which::differ, shape, params); !s)
    return tl::unexpected(s.error());
  std::uint32_t differ = 0;
  if (LaunchStatus s = gpu_->read(std::as_writable_bytes(std::span(&differ, 1)), reading_); !s)
    return tl::unexpected(s.error());
  return differ == 0;
}

LaunchStatus TrustedKernels::fill_async(DevicePtr to, std::uint64_t bytes, std::uint16_t word) {
  if (bytes == 0) return {};
  constexpr std::uint32_t kBothHalves = 0x00010001;
  const std::array<ParamValue, 4> params{{{to, 8},
                                          {bytes / kWordBytes, 8},
                                          {bytes % kWordBytes, 8},
                                          {kBothHalves * word, sizeof(std::uint32_t)}}};
  return launch_async(Which::fill, grid_stride(*gpu_, bytes / kWordBytes), params);
}

LaunchStatus TrustedKernels::copy_async(DevicePtr to, DevicePtr from, std::uint64_t bytes) {
  if (bytes == 0) return {};
  const std::uint64_t words =
      to % kWordBytes == 0 && from % kWordBytes == 0 ? bytes / kWordBytes : 0;
  const std::uint64_t rest = bytes - words * kWordBytes;
  const std::array<ParamValue, 4> params{{{to, 8}, {from, 8}, {words, 8}, {rest, 8}}};
  return launch_async(Which::copy, grid_stride(*gpu_, std::max(words, rest)), params);
}

LaunchStatus TrustedKernels::mask_async(DevicePtr to, DevicePtr from, std::uint64_t words,
                                        const MaskKey& key) {
  const std::array<ParamValue, 5> params{
      {{to, 8}, {from, 8}, {words, 8}, {key[0], 8}, {key[1], 8}}};
  return launch_async(Which::mask, grid_stride(*gpu_, words), params);
}

LaunchResult<double> TrustedKernels::clock_mhz() {
  std::array<std::uint64_t, kReadings> reading{};
  if (LaunchStatus s = gpu_->read(std::as_writable_bytes(std::span(reading)), reading_); !s)
    return tl::unexpected(s.error());
  const auto& [cycles, ns] = reading;
  return ns == 0 ? 0.0 : 1e3 * static_cast<double>(cycles) / static_cast<double>(ns);
}

}  // namespace assay::sandbox
