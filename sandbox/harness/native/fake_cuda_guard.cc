// Gives torch a device guard for CUDA that does nothing, where none is built in (a CPU build). Fake
// tensors on device `cuda` need one; no driver is ever asked. Loaded by harness/entry/fake_cuda.py
// through ctypes.
#include <c10/core/impl/DeviceGuardImplInterface.h>
#include <c10/core/impl/FakeGuardImpl.h>

/// 1: registered; 0: torch has a guard already.
extern "C" __attribute__((visibility("default"))) int assay_register_fake_cuda_guard() {
  auto& slot = c10::impl::device_guard_impl_registry[static_cast<size_t>(c10::DeviceType::CUDA)];
  if (slot.load() != nullptr) return 0;
  slot.store(new c10::impl::FakeGuardImpl<c10::DeviceType::CUDA>());  // for the life of the process
  return 1;
}
