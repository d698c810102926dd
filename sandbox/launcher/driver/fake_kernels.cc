#include "sandbox/launcher/driver/fake_kernels.h"

#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdint>
#include <cstring>

#include "sandbox/jail/layer.h"

namespace assay::sandbox {
namespace {

LaunchStatus illegal_address() {
  return launch_fail(
      LaunchErrorKind::gpu_fault,
      "running on the GPU: FAKE_ERROR_ILLEGAL_ADDRESS (an illegal memory access was encountered)");
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

/// Acts as a cheat: writes the sum at the first launch, and leaves the output as it is later.
LaunchStatus add_once(FakeLaunch& launch) {
  return launch.variable++ == 0 ? vector_add(launch) : LaunchStatus();
}

/// Writes the sum into x, which is an input.
LaunchStatus add_in_place(FakeLaunch& launch) {
  launch.params[2] = launch.params[0];
  return vector_add(launch);
}

/// Takes x, y, the count, and the two pointers that Triton adds, and sets y = x.
LaunchStatus copy_floats(FakeLaunch& launch) {
  const std::uint64_t bytes = static_cast<std::uint32_t>(launch.params[2].value) * sizeof(float);
  const std::byte* x = launch.memory(0, 0, bytes);
  std::byte* y = launch.memory(1, 0, bytes);
  if (x == nullptr || y == nullptr) return illegal_address();
  std::memcpy(y, x, bytes);
  return {};
}

LaunchStatus copy_and_spoil(FakeLaunch& launch) {
  LaunchStatus copied = copy_floats(launch);
  if (std::byte* x = launch.memory(0, 0, 1); copied && x != nullptr) *x ^= std::byte{1};
  return copied;
}

LaunchStatus write_byte(FakeLaunch& launch) {
  std::byte* target = launch.memory(0, static_cast<std::int64_t>(launch.params[1].value), 1);
  if (target == nullptr) return illegal_address();
  *target = std::byte{1};
  return {};
}

/// Stores the call's result, or the negative error, in `result`.
LaunchStatus system_call(FakeLaunch& launch) {
  constexpr std::size_t kResult = 0, kNumber = 1, kFirst = 2;
  std::array<long, 6> arguments{};
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const std::byte* memory = launch.memory(kFirst + i, 0, 1);
    arguments[i] = memory != nullptr ? static_cast<long>(reinterpret_cast<std::intptr_t>(memory))
                                     : static_cast<long>(launch.params[kFirst + i].value);
  }
  const auto& [a, b, c, d, e, f] = arguments;
  const long returned =
      ::syscall(static_cast<long>(launch.params[kNumber].value), a, b, c, d, e, f);
  const std::int64_t result = returned < 0 ? -static_cast<std::int64_t>(errno) : returned;
  std::byte* target = launch.memory(kResult, 0, sizeof result);
  if (target == nullptr) return illegal_address();
  std::memcpy(target, &result, sizeof result);
  return {};
}

LaunchStatus endless(FakeLaunch&) {
  while (true) ::pause();
}

}  // namespace

void add_fake_kernels(FakeDriver& gpu) {
  gpu.add_kernel("fake_vector_add", {8, 8, 8, 4}, vector_add);
  gpu.add_kernel("fake_add_once", {8, 8, 8, 4}, add_once);
  gpu.add_kernel("fake_add_in_place", {8, 8, 8, 4}, add_in_place);
  gpu.add_kernel("fake_copy", {8, 8, 4, 8, 8}, copy_floats);
  gpu.add_kernel("fake_copy_and_spoil", {8, 8, 4, 8, 8}, copy_and_spoil);
  gpu.add_kernel("fake_write_byte", {8, 8}, write_byte);
  gpu.add_kernel("fake_nothing", {8, 8, 8}, [](FakeLaunch&) { return LaunchStatus{}; });
  gpu.add_kernel("fake_illegal_address", {}, [](FakeLaunch&) { return illegal_address(); });
  gpu.add_kernel("fake_endless", {}, endless);
  gpu.add_kernel("fake_reset", {}, [](FakeLaunch& launch) {
    launch.gpu.lose_memory();
    return launch.gpu.synchronize();
  });
  if (mutations_possible())
    gpu.add_kernel("fake_system_call", {8, 8, 8, 8, 8, 8, 8, 8}, system_call);
}

}  // namespace assay::sandbox
