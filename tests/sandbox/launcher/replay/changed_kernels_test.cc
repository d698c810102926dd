// Tests that kernels which submitted code may have overwritten see nothing of the judge: in a
// simulated GPU, each run of a plan overwrites the code of all kernels of the launcher and of the
// driver. Only a kernel that was loaded again after that run is as it was.
#include <cstdint>
#include <cstring>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "sandbox/launcher/driver/fake_driver.h"
#include "sandbox/launcher/memory/shared_buffers.h"
#include "sandbox/launcher/replay/replay.h"
#include "tests/catch.h"
#include "tests/sandbox/launcher/plan_samples.h"

using namespace assay;
using namespace assay::sandbox;

namespace {

constexpr std::uint32_t kFloats = 500;
constexpr std::uint64_t kBytes = 1 << 16, kY = 4096, kOut = 8192;
constexpr std::size_t kWordBytes = 16;

/// A fake GPU on which the launcher's own kernels work, and which counts what changed kernels could
/// see. Every run of a plan changes all other kernels.
class OverwrittenGpu final : public FakeDriver {
 public:
  OverwrittenGpu() {
    add_fake_kernels(*this);
    add_kernel("assay_copy_memory", {8, 8, 8, 8}, [](FakeLaunch& launch) -> LaunchStatus {
      const std::uint64_t bytes = launch.params[2].value * kWordBytes + launch.params[3].value;
      std::memmove(launch.memory(0, 0, bytes), launch.memory(1, 0, bytes), bytes);
      return {};
    });
    add_kernel("assay_fill", {8, 8, 8, 4}, [](FakeLaunch& launch) -> LaunchStatus {
      const std::uint64_t bytes = launch.params[1].value * kWordBytes + launch.params[2].value;
      std::byte* to = launch.memory(0, 0, bytes);
      for (std::uint64_t i = 0; i < bytes; ++i)
        to[i] = static_cast<std::byte>(launch.params[3].value >> (8 * (i % 2)));
      return {};
    });
    add_kernel("assay_differ", {8, 8, 8, 8, 8}, [](FakeLaunch& launch) -> LaunchStatus {
      const std::uint64_t bytes = launch.params[2].value * kWordBytes + launch.params[3].value;
      const bool differ =
          std::memcmp(launch.memory(0, 0, bytes), launch.memory(1, 0, bytes), bytes) != 0;
      if (differ) *launch.memory(4, 0, 1) = std::byte{1};
      return {};
    });
    add_kernel("assay_mask", {8, 8, 8, 8, 8}, [](FakeLaunch& launch) -> LaunchStatus {
      const std::uint64_t bytes = launch.params[2].value * sizeof(std::uint64_t);
      std::memmove(launch.memory(0, 0, bytes), launch.memory(1, 0, bytes), bytes);
      std::byte* to = launch.memory(0, 0, bytes);
      for (std::uint64_t i = 0; i < bytes; ++i) to[i] ^= std::byte{0x5A};
      return {};
    });
  }

  LaunchResult<KernelHandle> load(std::string_view image, const std::string& kernel,
                                  std::uint32_t shared_bytes) override {
    LaunchResult<KernelHandle> handle = FakeDriver::load(image, kernel, shared_bytes);
    if (handle) names_[*handle] = kernel;
    return handle;
  }
  LaunchStatus reload(KernelHandle kernel, std::string_view image, const std::string& name,
                      std::uint32_t shared_bytes) override {
    changed_.erase(kernel);
    return FakeDriver::reload(kernel, image, name, shared_bytes);
  }
  LaunchStatus launch_async(KernelHandle kernel, const LaunchShape& shape,
                            std::span<const ParamValue> params) override {
    const std::string& name = names_[kernel];
    const bool is_own = name.starts_with("assay_");
    if (is_own && changed_.contains(kernel)) {
      if (shared_mappings() > 0) seen_by.insert(name + " beside memory of the judge");
      if (name == "assay_mask") seen_by.insert(name + " at any time");
      if (inputs_are_new_) seen_by.insert(name + " beside new inputs before their first run");
    }
    if (name == "assay_mask") inputs_are_new_ = shared_mappings() == 0;
    if (!is_own) {
      inputs_are_new_ = false;
      driver_is_changed_ = true;
      for (const auto& [handle, other] : names_)
        if (other.starts_with("assay_")) changed_.insert(handle);
    }
    ++(is_own ? own_launches : launches_of_plan);
    return FakeDriver::launch_async(kernel, shape, params);
  }
  LaunchStatus copy_async(DevicePtr to, DevicePtr from, std::uint64_t bytes) override {
    note_driver("the driver's copy");
    return FakeDriver::copy_async(to, from, bytes);
  }
  LaunchStatus fill_async(DevicePtr to, std::uint64_t count, std::uint32_t width,
                          std::uint64_t pattern) override {
    note_driver("the driver's fill");
    return FakeDriver::fill_async(to, count, width, pattern);
  }

  std::set<std::string> seen_by;
  int own_launches = 0, launches_of_plan = 0;

 private:
  void note_driver(const std::string& what) {
    if (driver_is_changed_ && shared_mappings() > 0)
      seen_by.insert(what + " beside memory of the judge");
    if (inputs_are_new_) seen_by.insert(what + " beside new inputs before their first run");
  }

  std::map<KernelHandle, std::string> names_;
  std::set<KernelHandle> changed_;
  bool inputs_are_new_ = false;  // unmasked, and no plan has run on them
  bool driver_is_changed_ = false;
};

/// The memory of a judge, with two inputs and room for outputs.
struct Shared {
  Shared() { fill(1); }
  void fill(float first) {
    for (std::uint32_t i = 0; i < kFloats; ++i) {
      at(0)[i] = first + static_cast<float>(i);
      at(kY)[i] = 0.5f;
    }
  }
  float* at(std::uint64_t offset) const { return reinterpret_cast<float*>(memory.data() + offset); }
  LaunchResult<Launched> run(ReplayRequest request) {
    request.gpu_memory_bytes = 1 << 28;
    request.trusted = &trusted;
    return replay(gpu, test::vector_add_plan(kFloats), buffers, request, SystemClock());
  }
  std::size_t wrong(float first) const {
    std::size_t wrong = 0;
    for (std::uint32_t i = 0; i < kFloats; ++i)
      wrong += at(kOut)[i] != first + static_cast<float>(i) + 0.5f ? 1 : 0;
    return wrong;
  }

  OverwrittenGpu gpu;
  TrustedKernels trusted = TrustedKernels::load(gpu).value();
  UniqueFd file = std::move(create_memfd("shared", kBytes).value());
  Mapping memory = std::move(Mapping::map(file.get(), kBytes, true).value());
  DeviceBuffers buffers{gpu,
                        {file.get(), kBytes},
                        {{"x", 0, kFloats * 4}, {"y", kY, kFloats * 4}},
                        {kOut, kFloats * 4}};
};

}  // namespace

TEST_CASE("no kernel that a submission may have overwritten runs beside memory of the judge") {
  Shared shared;
  for (int i = 0; i < 3; ++i) {
    const LaunchResult<Launched> launched = shared.run({});
    REQUIRE(launched);
    CHECK(launched->modified.empty());
    CHECK(shared.wrong(1) == 0);
  }
  REQUIRE(shared.buffers.close());
  CHECK(shared.gpu.launches_of_plan == 3);
  CHECK(shared.gpu.own_launches > 0);
  // Until this test was written, these were the kernels that compare and copy, and the driver's
  // fill and copy. They could read the inputs of hidden cases while a public case was judged.
  CHECK(shared.gpu.seen_by == std::set<std::string>{});
}

TEST_CASE(
    "no kernel that a submission may have overwritten sees new inputs before they are timed") {
  Shared shared;
  int staged = 0;
  ReplayRequest request;
  request.timing = TimingRules{.min_samples = 5, .max_samples = 10};
  request.stage_next_inputs = [&]() -> LaunchStatus {
    ++staged;
    shared.fill(7);
    return {};
  };
  const LaunchResult<Launched> launched = shared.run(request);
  REQUIRE(launched);
  CHECK(launched->modified.empty());
  CHECK(staged == 1);
  CHECK(launched->samples->first_run_ns.has_value());
  CHECK(shared.wrong(7) == 0);
  // Until this test was written, a changed kernel could compute the answers for new inputs before
  // their first run, and the later runs could copy them.
  CHECK(shared.gpu.seen_by == std::set<std::string>{});
}
