#include "sandbox/launcher/memory/guarded_memory.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <utility>

namespace assay::sandbox {
namespace {

std::uint64_t round_up(std::uint64_t value, std::uint64_t to) { return (value + to - 1) / to * to; }

}  // namespace

GuardedMemory::~GuardedMemory() {
  for (const Region& region : regions_) gpu_.free(region.base);
}

std::uint64_t GuardedMemory::cost(std::uint64_t bytes, std::uint32_t alignment) {
  const std::uint64_t slack = alignment > kBufferAlignment ? alignment : 0;
  constexpr std::uint64_t kMost = std::numeric_limits<std::uint64_t>::max();
  if (bytes > kMost - 2 * kGuardBytes - kBufferAlignment - slack) return kMost;
  return kGuardBytes + slack + round_up(bytes, kBufferAlignment) + kGuardBytes;
}

LaunchResult<DevicePtr> GuardedMemory::add(std::uint64_t bytes, std::uint32_t alignment,
                                           std::string what) {
  Region region;
  region.bytes = bytes;
  region.total = cost(bytes, alignment);
  region.what = std::move(what);
  LaunchResult<DevicePtr> base = gpu_.allocate(region.total);
  if (!base) return base;
  region.base = *base;
  region.data = round_up(region.base + kGuardBytes, std::max(alignment, kBufferAlignment));
  const std::uint64_t before = region.data - region.base;
  const std::uint64_t after = region.total - before - bytes;
  const DevicePtr data = region.data;
  regions_.push_back(std::move(region));
  if (LaunchStatus s = gpu_.fill_async(*base, before, 1, kGuardByte); !s)
    return tl::unexpected(s.error());
  if (LaunchStatus s = gpu_.fill_async(data + bytes, after, 1, kGuardByte); !s)
    return tl::unexpected(s.error());
  return data;
}

LaunchStatus GuardedMemory::check() {
  const auto touched = [](std::byte byte) { return byte != std::byte{kGuardByte}; };
  std::vector<std::byte> guard;
  for (const Region& region : regions_) {
    guard.resize(region.total - (region.data - region.base) - region.bytes);
    if (LaunchStatus s = gpu_.read(guard, region.data + region.bytes); !s) return s;
    if (const auto hit = std::find_if(guard.begin(), guard.end(), touched); hit != guard.end()) {
      return launch_fail(LaunchErrorKind::canary_violation,
                         "device code wrote past the end of " + region.what + ", first at +" +
                             std::to_string(hit - guard.begin()) +
                             " bytes; are its stores masked?");
    }
    guard.resize(region.data - region.base);
    if (LaunchStatus s = gpu_.read(guard, region.base); !s) return s;
    if (const auto hit = std::find_if(guard.rbegin(), guard.rend(), touched); hit != guard.rend()) {
      return launch_fail(LaunchErrorKind::canary_violation,
                         "device code wrote before the start of " + region.what + ", at -" +
                             std::to_string(hit - guard.rbegin() + 1) +
                             " bytes; is an index negative?");
    }
  }
  return {};
}

}  // namespace assay::sandbox
