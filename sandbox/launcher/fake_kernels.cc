#include "sandbox/launcher/fake_kernels.h"

#include <unistd.h>

#include <cstdint>
#include <cstring>

namespace assay::sandbox {
namespace {

LaunchStatus illegal_address() {
  return launch_fail(LaunchErrorKind::gpu_fault, "running on the GPU: FAKE_ERROR_ILLEGAL_ADDRESS (an illegal memory access was encountered)");
}

LaunchStatus vector_add(FakeLaunch& launch) {
  const auto n = static_cast<std::uint32_t>(launch.params[3].value);
  const std::byte* x = launch.memory(0, 0, n * sizeof(float));
  const std::byte* y = launch.memory(1, 0, n * sizeof(float));
  std::byte* out = launch.memory(2, 0, n * sizeof(float));
  if (x == nullptr || y == nullptr || out == nullptr) return illegal_address();
  for (std::size_t i = 0; i < n; ++i) {
    float a = 0;
    float b = 0;
    std::memcpy(&a, x + i * sizeof(float), sizeof(float));
    std::memcpy(&b, y + i * sizeof(float), sizeof(float));
    const float sum = a + b;
    std::memcpy(out + i * sizeof(float), &sum, sizeof(float));
  }
  return {};
}

LaunchStatus write_byte(FakeLaunch& launch) {
  std::byte* target = launch.memory(0, static_cast<std::int64_t>(launch.params[1].value), 1);
  if (target == nullptr) return illegal_address();
  *target = std::byte{1};
  return {};
}

LaunchStatus endless(FakeLaunch&) {
  while (true) ::pause();
}

}  // namespace

void add_fake_kernels(FakeDriver& gpu) {
  gpu.add_kernel("fake_vector_add", {8, 8, 8, 4}, vector_add);
  gpu.add_kernel("fake_write_byte", {8, 8}, write_byte);
  gpu.add_kernel("fake_illegal_address", {}, [](FakeLaunch&) { return illegal_address(); });
  gpu.add_kernel("fake_endless", {}, endless);
}

}  // namespace assay::sandbox
