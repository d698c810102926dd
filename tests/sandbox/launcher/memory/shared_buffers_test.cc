#include "sandbox/launcher/memory/shared_buffers.h"

#include <algorithm>
#include <cstring>
#include <vector>

#include "sandbox/launcher/driver/fake_driver.h"
#include "sandbox/launcher/replay/replay.h"
#include "tests/catch.h"
#include "tests/sandbox/launcher/plan_samples.h"

using namespace assay;
using namespace assay::sandbox;

namespace {

constexpr std::uint32_t kSharedFloats = 500;
constexpr std::uint64_t kBytes = 1 << 16, kY = 4096, kOut = 8192;

/// Two inputs and memory for outputs, in one block of simulated device memory that another process
/// owns.
struct Shared {
  Shared() {
    add_fake_kernels(gpu);
    file = std::move(create_memfd("shared", kBytes).value());
    memory = std::move(Mapping::map(file.get(), kBytes, true).value());
    for (std::uint32_t i = 0; i < kSharedFloats; ++i) {
      at(0)[i] = static_cast<float>(i);
      at(kY)[i] = 0.5f;
    }
    at(kOut)[kSharedFloats] = -7.0f;
  }
  float* at(std::uint64_t offset) const { return reinterpret_cast<float*>(memory.data() + offset); }
  DeviceBuffers buffers() {
    return {gpu,
            {file.get(), kBytes},
            {{"x", 0, kSharedFloats * 4}, {"y", kY, kSharedFloats * 4}},
            {kOut, kSharedFloats * 4}};
  }

  FakeDriver gpu;
  UniqueFd file;
  Mapping memory;
};

}  // namespace

TEST_CASE("a plan is replayed from shared device memory, and its outputs go there") {
  Shared shared;
  DeviceBuffers buffers = shared.buffers();
  for (const bool timed : {false, true}) {
    ReplayRequest request;
    request.gpu_memory_bytes = 1 << 28;
    if (timed) request.timing = TimingRules{.min_samples = 5, .max_samples = 10};
    std::memset(shared.at(kOut), 0, kSharedFloats * 4);
    REQUIRE(
        replay(shared.gpu, test::vector_add_plan(kSharedFloats), buffers, request, SystemClock()));
    std::size_t wrong = 0;
    for (std::uint32_t i = 0; i < kSharedFloats; ++i)
      wrong += shared.at(kOut)[i] != static_cast<float>(i) + 0.5f ? 1 : 0;
    CHECK(wrong == 0);
    CHECK(shared.at(kOut)[kSharedFloats] == -7.0f);
    REQUIRE(buffers.close());
    CHECK(shared.gpu.shared_mappings() == 0);
    CHECK(shared.gpu.allocated_bytes() == 0);
  }
}

TEST_CASE("a launch maps the shared memory once, shows it once more, and says how long it took") {
  Shared shared;
  {
    DeviceBuffers buffers = shared.buffers();
    const ReplayRequest request{.gpu_memory_bytes = 1 << 28, .timing = {}, .chosen = {}};
    const LaunchResult<Launched> launched =
        replay(shared.gpu, test::vector_add_plan(kSharedFloats), buffers, request, SystemClock());
    REQUIRE(launched);
    CHECK(shared.gpu.calls().maps == 1);
    CHECK(shared.gpu.calls().shows == 1);  // for the comparison of the inputs and for the outputs
    CHECK(shared.gpu.shared_mappings() == 1);  // the next launch need not map it
    CHECK(launched->parts[LaunchPart::map] > 0);
    CHECK(launched->parts[LaunchPart::wait] == 0);
    CHECK(launched->parts.total() > launched->parts[LaunchPart::map]);
  }
  CHECK(shared.gpu.shared_mappings() + shared.gpu.hidden_mappings() == 0);
}

TEST_CASE("a pretended copy of outputs maps the memory as a copy does, and changes nothing") {
  for (const bool pretended : {false, true}) {
    Shared shared;
    DeviceBuffers buffers = shared.buffers();
    const DevicePtr from = shared.gpu.allocate(kSharedFloats * 4).value();
    std::vector<std::byte> bytes(kSharedFloats * 4, std::byte{0x11});
    REQUIRE(shared.gpu.write(from, bytes));
    std::memset(shared.at(kOut), 0x22, kSharedFloats * 4);
    for (int i = 0; i < 2; ++i) {
      const LaunchStatus copied = pretended
                                      ? buffers.pretend_copy_out(0, from, bytes.size(), nullptr)
                                      : buffers.copy_out(0, from, bytes.size(), nullptr);
      REQUIRE(copied);
      CHECK(shared.gpu.shared_mappings() == 1);
      REQUIRE(buffers.close());
    }
    CHECK(shared.gpu.calls().maps == 1);
    CHECK(shared.gpu.calls().shows == 1);
    const auto* out = reinterpret_cast<const unsigned char*>(shared.at(kOut));
    const unsigned char due = pretended ? 0x22 : 0x11;
    CHECK(std::count(out, out + bytes.size(), due) == static_cast<std::ptrdiff_t>(bytes.size()));
    shared.gpu.free(from);
  }
}

TEST_CASE("hidden memory can be shown, and no other memory can") {
  Shared shared;
  const DevicePtr base = shared.gpu.map_shared(shared.file.get(), kBytes).value();
  CHECK_FALSE(shared.gpu.show_shared(base));
  REQUIRE(shared.gpu.hide_shared(base));
  CHECK_FALSE(shared.gpu.hide_shared(base));
  CHECK(shared.gpu.translate(base, 4) == nullptr);
  REQUIRE(shared.gpu.show_shared(base));
  CHECK(shared.gpu.translate(base, 4) != nullptr);
  REQUIRE(shared.gpu.hide_shared(base));
  CHECK(shared.gpu.unmap_shared(base));
  CHECK_FALSE(shared.gpu.unmap_shared(base));
}

TEST_CASE("submitted code never runs while the shared memory is mapped") {
  Shared shared;
  std::size_t launches = 0, mapped = 0;
  shared.gpu.add_kernel("look", {8, 8, 8, 4}, [&](FakeLaunch& launch) {
    ++launches;
    mapped += launch.gpu.shared_mappings();
    return LaunchStatus();
  });
  DeviceBuffers buffers = shared.buffers();
  const ReplayRequest request{.gpu_memory_bytes = 1 << 28,
                              .timing = TimingRules{.min_samples = 5, .max_samples = 10},
                              .chosen = {}};
  REQUIRE(replay(shared.gpu, test::vector_add_plan(kSharedFloats, "look"), buffers, request,
                 SystemClock()));
  CHECK(launches > 5);
  CHECK(mapped == 0);
}

TEST_CASE(
    "shared memory that cannot be mapped, and a fault while it is mapped, are errors and leave "
    "nothing mapped") {
  Shared shared;
  DeviceBuffers broken(shared.gpu, {-1, kBytes}, {{"x", 0, 4}}, {4096, 4});
  const DevicePtr memory = shared.gpu.allocate(64).value();
  const LaunchStatus failed = broken.copy_in(0, memory, nullptr);
  REQUIRE_FALSE(failed);
  CHECK(failed.error().kind == LaunchErrorKind::internal_error);
  CHECK(failed.error().message.find("importing shared memory") != std::string::npos);

  DeviceBuffers buffers = shared.buffers();
  REQUIRE(buffers.copy_in(0, shared.gpu.allocate(kSharedFloats * 4).value(), nullptr));
  CHECK(shared.gpu.shared_mappings() == 1);
  REQUIRE_FALSE(buffers.copy_out(0, 0xdead, 4, nullptr));
  REQUIRE_FALSE(buffers.close());
  CHECK(shared.gpu.shared_mappings() == 0);
}
