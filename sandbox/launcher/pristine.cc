#include "sandbox/launcher/pristine.h"

namespace assay::sandbox {

Pristine::~Pristine() {
  for (const Filled& filled : filled_) {
    if (filled.copy != 0) gpu_.free(filled.copy);
  }
}

LaunchStatus Pristine::poison_async() {
  for (const Poisoned& poisoned : poisoned_) {
    if (LaunchStatus s = gpu_.fill_async(poisoned.buffer, poisoned.bytes, 1, poison_); !s) return s;
  }
  return {};
}

LaunchStatus Pristine::write() {
  if (LaunchStatus s = poison_async(); !s) return s;
  for (const Filled& filled : filled_) {
    if (LaunchStatus s = filled.source(filled.buffer); !s) return s;
  }
  return {};
}

LaunchStatus Pristine::keep_on_device() {
  for (Filled& filled : filled_) {
    if (filled.bytes == 0) continue;
    LaunchResult<DevicePtr> copy = gpu_.allocate(filled.bytes);
    if (!copy && copy.error().kind == LaunchErrorKind::gpu_memory_limit) continue;
    if (!copy) return tl::unexpected(copy.error());
    filled.copy = *copy;
    if (LaunchStatus s = filled.source(filled.copy); !s) return s;
  }
  return {};
}

LaunchStatus Pristine::renew() {
  for (const Filled& filled : filled_) {
    if (filled.copy == 0) continue;
    if (LaunchStatus s = filled.source(filled.copy); !s) return s;
  }
  return {};
}

LaunchStatus Pristine::restore_async() {
  if (LaunchStatus s = poison_async(); !s) return s;
  for (const Filled& filled : filled_) {
    LaunchStatus s = filled.copy != 0 ? gpu_.copy_async(filled.buffer, filled.copy, filled.bytes) : filled.source(filled.buffer);
    if (!s) return s;
  }
  return {};
}

}  // namespace assay::sandbox
