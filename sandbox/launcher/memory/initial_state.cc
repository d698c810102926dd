#include "sandbox/launcher/memory/initial_state.h"

#include <random>

namespace assay::sandbox {
namespace {

constexpr std::uint64_t masked_words(std::uint64_t bytes) {
  return (bytes + kMaskWordBytes - 1) / kMaskWordBytes;
}

}  // namespace

InitialState::~InitialState() {
  for (const Filled& filled : filled_) {
    if (filled.copy != 0) gpu_.free(filled.copy);
    if (filled.staged != 0) gpu_.free(filled.staged);
  }
}

LaunchStatus InitialState::poison_async() {
  for (const Poisoned& poisoned : poisoned_) {
    if (LaunchStatus s = gpu_.fill_async(poisoned.buffer, poisoned.bytes, 1, poison_); !s) return s;
  }
  return {};
}

LaunchStatus InitialState::write() {
  if (LaunchStatus s = poison_async(); !s) return s;
  for (const Filled& filled : filled_) {
    if (LaunchStatus s = filled.source(filled.buffer); !s) return s;
  }
  return {};
}

LaunchResult<DevicePtr> InitialState::room_for(std::uint64_t bytes) {
  LaunchResult<DevicePtr> room = gpu_.allocate(masked_words(bytes) * kMaskWordBytes);
  if (!room && room.error().kind == LaunchErrorKind::gpu_memory_limit) return 0;
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

LaunchStatus InitialState::stage(TrustedKernels* ours) {
  ours_ = ours;
  if (ours == nullptr) return {};
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
            ours->mask_async(filled.staged, filled.staged, masked_words(filled.bytes), key_);
        !s)
      return s;
  }
  return gpu_.synchronize();
}

LaunchResult<bool> InitialState::swap_inputs() {
  bool unseen = true;
  for (const Filled& filled : filled_) {
    if (filled.bytes == 0) continue;
    if (filled.copy == 0 || (ours_ != nullptr && filled.staged == 0)) unseen = false;
    if (filled.copy == 0) continue;
    LaunchStatus s = filled.staged != 0 ? ours_->mask_async(filled.copy, filled.staged,
                                                            masked_words(filled.bytes), key_)
                                        : filled.source(filled.copy);
    if (!s) return tl::unexpected(s.error());
  }
  return unseen;
}

LaunchStatus InitialState::restore_async() {
  if (LaunchStatus s = poison_async(); !s) return s;
  for (const Filled& filled : filled_) {
    LaunchStatus s = filled.copy != 0 ? gpu_.copy_async(filled.buffer, filled.copy, filled.bytes)
                                      : filled.source(filled.buffer);
    if (!s) return s;
  }
  return {};
}

}  // namespace assay::sandbox
