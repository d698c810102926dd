// Registers a device guard for CUDA that does nothing and never calls a driver. Fake tensors on the
// device `cuda` need a guard, and CPU builds of torch have none for CUDA.
// harness/entry/fake_cuda.py loads this library through ctypes.
#include <c10/core/impl/DeviceGuardImplInterface.h>
#include <c10/core/impl/FakeGuardImpl.h>

/// Registers the guard. Returns 1 if it was registered, or 0 if torch already has a guard for CUDA.
extern "C" __attribute__((visibility("default"))) int assay_register_fake_cuda_guard() {
  auto& slot = c10::impl::device_guard_impl_registry[static_cast<size_t>(c10::DeviceType::CUDA)];
  if (slot.load() != nullptr) return 0;
  slot.store(new c10::impl::FakeGuardImpl<c10::DeviceType::CUDA>());  // never deleted
  return 1;
}
