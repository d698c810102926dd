// Registers a device guard for CUDA that does nothing, for builds of torch that have none (CPU
// builds). Fake tensors on device `cuda` need a guard. It never calls a driver.
// harness/entry/fake_cuda.py loads this library by ctypes.
#include <c10/core/impl/DeviceGuardImplInterface.h>
#include <c10/core/impl/FakeGuardImpl.h>

/// Returns 1 if the guard was registered, 0 if torch has one already.
extern "C" __attribute__((visibility("default"))) int assay_register_fake_cuda_guard() {
  auto& slot = c10::impl::device_guard_impl_registry[static_cast<size_t>(c10::DeviceType::CUDA)];
  if (slot.load() != nullptr) return 0;
  slot.store(new c10::impl::FakeGuardImpl<c10::DeviceType::CUDA>());  // for the life of the process
  return 1;
}
