#include "sandbox/launcher/memory/shared_buffers.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/clock.h"

namespace assay::sandbox {
namespace {

constexpr std::uint64_t kPieceBytes = 16 << 20;  // number of bytes that the host compares at a time

/// Compares, piece by piece, the `bytes` bytes of device memory at `a` with the bytes that
/// expected(offset, size) returns.
template <class Expected>
LaunchResult<bool> same_by_pieces(GpuDriver& gpu, DevicePtr a, std::uint64_t bytes,
                                  Expected expected) {
  std::vector<std::byte> held(std::min(bytes, kPieceBytes));
  for (std::uint64_t at = 0; at < bytes; at += kPieceBytes) {
    const std::span<std::byte> piece(held.data(), std::min(kPieceBytes, bytes - at));
    if (LaunchStatus s = gpu.read(piece, a + at); !s) return tl::unexpected(s.error());
    LaunchResult<std::span<const std::byte>> other = expected(at, piece.size());
    if (!other) return tl::unexpected(other.error());
    if (std::memcmp(piece.data(), other->data(), piece.size()) != 0) return false;
  }
  return true;
}

}  // namespace

LaunchResult<bool> HostBuffers::same(std::size_t input, DevicePtr at, TrustedKernels*) {
  const std::span<const std::byte> bytes = inputs_[input].bytes;
  return same_by_pieces(
      gpu_, at, bytes.size(),
      [&](std::uint64_t from, std::uint64_t count) -> LaunchResult<std::span<const std::byte>> {
        return bytes.subspan(from, count);
      });
}

SharedMapping::~SharedMapping() {
  if (base_ != 0) gpu_.unmap_shared(base_);
}

LaunchStatus SharedMapping::show() {
  if (base_ != 0) return gpu_.show_shared(base_);
  LaunchResult<DevicePtr> base = gpu_.map_shared(memory_.fd, memory_.bytes);
  if (!base) return tl::unexpected(base.error());
  base_ = *base;
  return {};
}

LaunchStatus SharedMapping::open(TrustedKernels* trusted) {
  if (is_shown_) return {};
  // Waits until all earlier kernels have ended, because they could access the memory as soon as it
  // is mapped.
  if (LaunchStatus s = gpu_.synchronize(); !s) return s;
  if (trusted != nullptr) {
    if (LaunchStatus s = trusted->refresh_those_of_memory(); !s) return s;
  }
  const std::int64_t begin_ns = system_clock().monotonic_ns();
  LaunchStatus shown = show();
  took_ns_ += system_clock().monotonic_ns() - begin_ns;
  is_shown_ = shown.has_value();
  return shown;
}

LaunchStatus SharedMapping::close() {
  if (!is_shown_) return {};
  const LaunchStatus finished = gpu_.synchronize();
  const std::int64_t begin_ns = system_clock().monotonic_ns();
  LaunchStatus hidden = gpu_.hide_shared(base_);
  // Memory that cannot be hidden is unmapped as a whole, because submitted code may run next.
  if (!hidden) hidden = gpu_.unmap_shared(std::exchange(base_, 0));
  took_ns_ += system_clock().monotonic_ns() - begin_ns;
  is_shown_ = false;
  return finished ? hidden : finished;
}

LaunchStatus DeviceBuffers::copy_in(std::size_t input, DevicePtr to, TrustedKernels* trusted) {
  if (LaunchStatus s = mapping_->open(trusted); !s) return s;
  const DevicePtr from = mapping_->base() + inputs_[input].offset;
  return trusted != nullptr ? trusted->copy_async(to, from, inputs_[input].bytes)
                            : gpu_.copy_async(to, from, inputs_[input].bytes);
}

LaunchStatus DeviceBuffers::copy_out(std::uint64_t offset, DevicePtr from, std::uint64_t bytes,
                                     TrustedKernels* trusted) {
  if (LaunchStatus s = mapping_->open(trusted); !s) return s;
  const DevicePtr to = mapping_->base() + output_.offset + offset;
  return trusted != nullptr ? trusted->copy_async(to, from, bytes)
                            : gpu_.copy_async(to, from, bytes);
}

LaunchStatus DeviceBuffers::pretend_copy_out(std::uint64_t offset, DevicePtr, std::uint64_t bytes,
                                             TrustedKernels* trusted) {
  if (LaunchStatus s = mapping_->open(trusted); !s) return s;
  const DevicePtr to = mapping_->base() + output_.offset + offset;
  return copy_out(offset, to, bytes, trusted);  // onto itself
}

LaunchResult<bool> DeviceBuffers::same(std::size_t input, DevicePtr at, TrustedKernels* trusted) {
  if (LaunchStatus s = mapping_->open(trusted); !s) return tl::unexpected(s.error());
  const DevicePtr original = mapping_->base() + inputs_[input].offset;
  if (trusted != nullptr) return trusted->same(original, at, inputs_[input].bytes);
  std::vector<std::byte> first;
  return same_by_pieces(
      gpu_, at, inputs_[input].bytes,
      [&](std::uint64_t from, std::uint64_t count) -> LaunchResult<std::span<const std::byte>> {
        first.resize(count);
        if (LaunchStatus s = gpu_.read(first, original + from); !s)
          return tl::unexpected(s.error());
        return std::span<const std::byte>(first);
      });
}

}  // namespace assay::sandbox
