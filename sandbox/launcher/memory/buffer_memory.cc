#include "sandbox/launcher/memory/buffer_memory.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <optional>
#include <random>
#include <utility>

namespace assay::sandbox {
namespace {

// The alignment of a large and of a small allocation of CUDA.
constexpr std::uint64_t kLarge = 2 << 20;
constexpr std::uint64_t kSmall = 512;

std::uint64_t round_up(std::uint64_t value, std::uint64_t to) { return (value + to - 1) / to * to; }

std::uint64_t alignment_for(std::uint64_t bytes) { return bytes >= kLarge ? kLarge : kSmall; }

constexpr std::uint64_t masked_words(std::uint64_t bytes) {
  return (bytes + kMaskWordBytes - 1) / kMaskWordBytes;
}

}  // namespace

GuardedMemory::~GuardedMemory() {
  for (const DevicePtr allocation : allocations_) gpu_.free(allocation);
}

std::uint64_t GuardedMemory::cost(std::uint64_t bytes, std::uint32_t alignment) {
  const std::uint64_t slack = alignment > kBufferAlignment ? alignment : 0;
  constexpr std::uint64_t kMost = std::numeric_limits<std::uint64_t>::max();
  if (bytes > kMost - 2 * kGuardBytes - kBufferAlignment - slack) return kMost;
  return kGuardBytes + slack + round_up(bytes, kBufferAlignment) + kGuardBytes;
}

LaunchStatus GuardedMemory::reserve(const std::vector<Size>& sizes) {
  if (guards_ == Guards::none || !gpu_.prefers_one_allocation() || sizes.size() < 2) return {};
  std::uint64_t total = 0, most = 0;
  for (const Size& one : sizes) {
    const std::uint64_t bytes = cost(one.bytes, one.alignment);
    total = round_up(total, alignment_for(bytes)) + bytes;
    most = std::max(most, bytes);
  }
  if (most >= kLarge) total += kLarge;  // the allocation itself may have a smaller alignment
  LaunchResult<DevicePtr> memory = gpu_.allocate(total);
  if (!memory && memory.error().kind == LaunchErrorKind::device_full) return {};
  if (!memory) return tl::unexpected(memory.error());
  allocations_.push_back(*memory);
  reserved_ = *memory;
  reserved_bytes_ = total;
  return {};
}

LaunchResult<DevicePtr> GuardedMemory::memory_for(std::uint64_t bytes) {
  const DevicePtr base = round_up(reserved_, alignment_for(bytes));
  const std::uint64_t skipped = base - reserved_;
  if (skipped <= reserved_bytes_ && bytes <= reserved_bytes_ - skipped) {
    reserved_ = base + bytes;
    reserved_bytes_ -= skipped + bytes;
    return base;
  }
  LaunchResult<DevicePtr> own = gpu_.allocate(bytes);
  if (own) allocations_.push_back(*own);
  return own;
}

LaunchResult<DevicePtr> GuardedMemory::add(std::uint64_t bytes, std::uint32_t alignment,
                                           std::string what) {
  Region region;
  region.bytes = bytes;
  const std::uint64_t guard = guards_ == Guards::kept ? kGuardBytes : 0;
  const std::uint64_t slack = alignment > kBufferAlignment ? alignment : 0;
  region.total = guard > 0 ? cost(bytes, alignment) : slack + bytes;
  region.what = std::move(what);
  LaunchResult<DevicePtr> base = memory_for(region.total);
  if (!base) return base;
  region.base = *base;
  region.data = round_up(region.base + guard, std::max(alignment, kBufferAlignment));
  regions_.push_back(std::move(region));
  return regions_.back().data;
}

LaunchStatus GuardedMemory::fill_guards() {
  if (guards_ == Guards::none) return {};
  for (const Region& region : regions_) {
    const std::uint64_t before = region.data - region.base;
    const std::uint64_t after = region.total - before - region.bytes;
    if (LaunchStatus s = fill_guard(region.base, before); !s) return s;
    if (LaunchStatus s = fill_guard(region.data + region.bytes, after); !s) return s;
  }
  return {};
}

LaunchStatus GuardedMemory::fill_guard(DevicePtr from, std::uint64_t bytes) {
  constexpr std::uint64_t kWord = sizeof kGuardWord;
  const auto fill_byte = [&](DevicePtr at) {
    return gpu_.fill_async(at, 1, 1, std::to_integer<unsigned>(guard_byte(at)));
  };
  const DevicePtr end = from + bytes;
  if (from % kWord != 0 && from < end) {
    if (LaunchStatus s = fill_byte(from); !s) return s;
    ++from;
  }
  const std::uint64_t words = (end - from) / kWord;
  if (words > 0) {
    if (LaunchStatus s = gpu_.fill_async(from, words, kWord, kGuardWord); !s) return s;
    from += words * kWord;
  }
  return from < end ? fill_byte(from) : LaunchStatus();
}

LaunchStatus GuardedMemory::check() {
  if (guards_ == Guards::none) return gpu_.synchronize();
  std::vector<std::byte> guard;
  // Returns the place of the first byte of `guard` that has changed, in the given direction.
  const auto touched = [&](DevicePtr from, bool backwards) -> std::optional<std::uint64_t> {
    for (std::uint64_t i = 0; i < guard.size(); ++i) {
      const std::uint64_t at = backwards ? guard.size() - 1 - i : i;
      if (guard[at] != guard_byte(from + at)) return i;
    }
    return std::nullopt;
  };
  for (const Region& region : regions_) {
    guard.resize(region.total - (region.data - region.base) - region.bytes);
    if (LaunchStatus s = gpu_.read(guard, region.data + region.bytes); !s) return s;
    if (const auto hit = touched(region.data + region.bytes, false)) {
      return launch_fail(LaunchErrorKind::canary_violation,
                         "device code wrote past the end of " + region.what + ", first at +" +
                             std::to_string(*hit) + " bytes; are its stores masked?");
    }
    guard.resize(region.data - region.base);
    if (LaunchStatus s = gpu_.read(guard, region.base); !s) return s;
    if (const auto hit = touched(region.base, true)) {
      return launch_fail(LaunchErrorKind::canary_violation,
                         "device code wrote before the start of " + region.what + ", at -" +
                             std::to_string(*hit + 1) + " bytes; is an index negative?");
    }
  }
  return {};
}

InitialState::~InitialState() {
  for (const Filled& filled : filled_) {
    if (filled.copy != 0) gpu_.free(filled.copy);
    if (filled.staged != 0) gpu_.free(filled.staged);
  }
}

LaunchStatus InitialState::write_poison() {
  for (const Poisoned& poisoned : poisoned_) {
    if (LaunchStatus s = fill_async(poisoned); !s) return s;
  }
  return {};
}

LaunchStatus InitialState::write_sources() {
  for (const Filled& filled : filled_) {
    if (LaunchStatus s = filled.source(filled.buffer); !s) return s;
  }
  return {};
}

LaunchStatus InitialState::write_from_host() {
  std::vector<std::byte> contents;
  for (const Filled& filled : filled_) {
    if (filled.bytes == 0) continue;
    if (LaunchStatus s = filled.source(filled.buffer); !s) return s;
    contents.resize(filled.bytes);
    if (LaunchStatus s = gpu_.read(contents, filled.buffer); !s) return s;
    if (LaunchStatus s = gpu_.write(filled.buffer, contents); !s) return s;
  }
  return {};
}

LaunchStatus InitialState::fill_async(const Poisoned& poisoned) {
  constexpr std::uint64_t kWord = sizeof poison_;
  const std::uint64_t words = poisoned.bytes / kWord;
  if (LaunchStatus s = gpu_.fill_async(poisoned.buffer, words, kWord, poison_); !s) return s;
  if (poisoned.bytes % kWord == 0) return {};
  return gpu_.fill_async(poisoned.buffer + words * kWord, 1, 1, poison_ & 0xFF);
}

LaunchResult<DevicePtr> InitialState::room_for(std::uint64_t bytes) {
  LaunchResult<DevicePtr> room = gpu_.allocate(masked_words(bytes) * kMaskWordBytes);
  if (!room && room.error().kind == LaunchErrorKind::device_full) return 0;
  return room;
}

LaunchStatus InitialState::keep_on_device() {
  for (Filled& filled : filled_) {
    if (filled.bytes == 0) continue;
    LaunchResult<DevicePtr> copy = room_for(filled.bytes);
    if (!copy) return tl::unexpected(copy.error());
    if (*copy == 0) continue;
    filled.copy = *copy;
    if (LaunchStatus s = filled.source(filled.copy); !s) return s;
  }
  return {};
}

LaunchStatus InitialState::stage() {
  if (trusted_ == nullptr) return {};
  std::random_device entropy;
  for (std::uint64_t& half : key_) half = std::uniform_int_distribution<std::uint64_t>()(entropy);
  for (Filled& filled : filled_) {
    if (filled.copy == 0) continue;
    if (filled.staged == 0) {
      LaunchResult<DevicePtr> room = room_for(filled.bytes);
      if (!room) return tl::unexpected(room.error());
      if (*room == 0) continue;
      filled.staged = *room;
    }
    if (LaunchStatus s = filled.source(filled.staged); !s) return s;
    if (LaunchStatus s =
            trusted_->mask_async(filled.staged, filled.staged, masked_words(filled.bytes), key_);
        !s)
      return s;
  }
  return gpu_.synchronize();
}

LaunchResult<bool> InitialState::swap_inputs() {
  bool unseen = true;
  for (const Filled& filled : filled_) {
    if (filled.bytes == 0) continue;
    if (filled.copy == 0 || (trusted_ != nullptr && filled.staged == 0)) unseen = false;
    if (filled.copy == 0) continue;
    LaunchStatus s = filled.staged != 0 ? trusted_->mask_async(filled.copy, filled.staged,
                                                               masked_words(filled.bytes), key_)
                                        : filled.source(filled.copy);
    if (!s) return tl::unexpected(s.error());
  }
  return unseen;
}

LaunchStatus InitialState::restore_async() {
  for (const Poisoned& poisoned : poisoned_) {
    LaunchStatus s = trusted_ != nullptr
                         ? trusted_->fill_async(poisoned.buffer, poisoned.bytes, poison_)
                         : fill_async(poisoned);
    if (!s) return s;
  }
  for (const Filled& filled : filled_) {
    LaunchStatus s = filled.copy == 0 ? filled.source(filled.buffer)
                     : trusted_ != nullptr
                         ? trusted_->copy_async(filled.buffer, filled.copy, filled.bytes)
                         : gpu_.copy_async(filled.buffer, filled.copy, filled.bytes);
    if (!s) return s;
  }
  return {};
}

}  // namespace assay::sandbox
