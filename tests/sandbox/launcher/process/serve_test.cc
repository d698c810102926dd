// Runs the launcher's main loop in this process, on a fake GPU that counts the calls with which a
// driver maps memory of the judge. On a machine with several GPUs, these calls wait for each other.
#include "sandbox/launcher/process/serve.h"

#include <cstdint>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "sandbox/launcher/driver/fake_driver.h"
#include "sandbox/launcher/driver/shared_mappings.h"
#include "sandbox/wire/launch_request.h"
#include "tests/catch.h"
#include "tests/sandbox/launcher/plan_samples.h"
#include "tests/sandbox/launcher/plan_writer.h"

using namespace assay;
using namespace assay::sandbox;

namespace {

constexpr std::uint32_t kFloatsOfCase = 100;
constexpr std::uint64_t kStep = 4096;                   // between the tensors in the shared memory
constexpr std::uint64_t kSharedBytes = 64 * 3 * kStep;  // room for 64 cases
constexpr std::uint64_t kJob = 7;                       // LaunchRequest::memory_id

/// The number of calls of the API of CUDA or HIP.
struct ApiCalls {
  int imports = 0, releases = 0, reserves = 0, frees = 0, maps = 0, accesses = 0, unmaps = 0;
  bool operator==(const ApiCalls&) const = default;
};

std::string text_of(const ApiCalls& calls) {
  return "imports " + std::to_string(calls.imports) + ", releases " +
         std::to_string(calls.releases) + ", reserves " + std::to_string(calls.reserves) +
         ", frees " + std::to_string(calls.frees) + ", maps " + std::to_string(calls.maps) +
         ", accesses " + std::to_string(calls.accesses) + ", unmaps " +
         std::to_string(calls.unmaps);
}

/// A fake GPU that makes the calls of a real driver (SharedMappings), and counts them.
class CountedGpu final : public FakeDriver {
 public:
  LaunchResult<DevicePtr> map_shared(int fd, std::uint64_t bytes) override {
    return mappings_.map(fd, bytes);
  }
  LaunchStatus unmap_shared(DevicePtr memory) override { return mappings_.unmap(memory); }
  LaunchStatus hide_shared(DevicePtr memory) override { return mappings_.hide(memory); }
  LaunchStatus show_shared(DevicePtr memory) override { return mappings_.show(memory); }
  LaunchResult<KernelHandle> load(std::string_view image, const std::string& kernel,
                                  std::uint32_t shared_bytes) override {
    mapped_at_load_ += shared_mappings();
    return FakeDriver::load(image, kernel, shared_bytes);
  }
  void unload(KernelHandle kernel) override {
    mapped_at_unload_ += shared_mappings();
    FakeDriver::unload(kernel);
  }
  LaunchStatus fill_async(DevicePtr to, std::uint64_t count, std::uint32_t width,
                          std::uint64_t pattern) override {
    mapped_at_fill_ += shared_mappings();
    return FakeDriver::fill_async(to, count, width, pattern);
  }
  const ApiCalls& api_calls() const { return mappings_.calls; }
  /// The number of mappings that code of a plan could have accessed while it was loaded.
  std::size_t mapped_at_load() const { return mapped_at_load_; }
  /// The same for when it was unloaded: AMD's driver runs kernels of the kind `fini` then.
  std::size_t mapped_at_unload() const { return mapped_at_unload_; }
  /// The same for fills, because code of an earlier plan may have changed the driver's kernels.
  std::size_t mapped_at_fill() const { return mapped_at_fill_; }

 private:
  class Mappings final : public SharedMappings {
   public:
    explicit Mappings(CountedGpu& gpu) : gpu_(gpu) {}
    ApiCalls calls;

   private:
    int import_memory(Handle& handle, int fd) override {
      ++calls.imports;
      fd_ = fd;
      handle = 1;
      return 0;
    }
    int release(Handle) override {
      ++calls.releases;
      return 0;
    }
    int reserve(DevicePtr& base, std::uint64_t bytes) override {
      ++calls.reserves;
      const LaunchResult<DevicePtr> mapped = gpu_.FakeDriver::map_shared(fd_, bytes);
      base = mapped.value_or(0);
      return mapped && gpu_.FakeDriver::hide_shared(base) ? 0 : 1;
    }
    int free_addresses(DevicePtr base, std::uint64_t) override {
      ++calls.frees;
      return gpu_.FakeDriver::unmap_shared(base) ? 0 : 1;
    }
    int map_at(DevicePtr base, std::uint64_t, Handle) override {
      ++calls.maps;
      return gpu_.FakeDriver::show_shared(base) ? 0 : 1;
    }
    int allow_access(DevicePtr, std::uint64_t) override {
      ++calls.accesses;
      return 0;
    }
    int unmap_at(DevicePtr base, std::uint64_t) override {
      ++calls.unmaps;
      return gpu_.FakeDriver::hide_shared(base) ? 0 : 1;
    }
    LaunchError classified(int, const std::string& doing) const override {
      return {LaunchErrorKind::internal_error, doing};
    }

    CountedGpu& gpu_;
    int fd_ = -1;
  };

  Mappings mappings_{*this};
  std::size_t mapped_at_load_ = 0, mapped_at_unload_ = 0, mapped_at_fill_ = 0;
};

/// A launcher in this process, and the judge's device memory. The job's cases are sums of x and y.
class Launcher {
 public:
  Launcher() {
    Result<SocketPair> pair = make_socket_pair();
    REQUIRE(pair);
    ours_ = std::move(pair->ours);
    theirs_ = std::move(pair->theirs);
    add_fake_kernels(gpu);
    gpu.add_kernel("look", {8, 8, 8, 4}, [this](FakeLaunch& launch) -> LaunchStatus {
      ++looks;
      mapped_in_run += launch.gpu.shared_mappings();
      return {};
    });
    file_ = std::move(create_memfd("device", kSharedBytes).value());
    memory_ = std::move(Mapping::map(file_.get(), kSharedBytes, true).value());
    thread_ = std::thread([this] { ended = serve(theirs_.get(), gpu, {}, SystemClock()); });
    REQUIRE(receive()["type"] == "ready");
  }
  ~Launcher() { end(); }
  Launcher(const Launcher&) = delete;
  Launcher& operator=(const Launcher&) = delete;

  /// Ends the launcher. Then the members of `gpu` may be read.
  void end() {
    ours_.reset();
    if (thread_.joinable()) thread_.join();
  }
  /// Launches case `number`, whose inputs are in device memory.
  nlohmann::json device_case(int number, const Plan& plan) {
    return ask_device(device_request(number), plan);
  }
  nlohmann::json ask_device(const LaunchRequest& request, const Plan& plan) {
    return ask(request, plan, {file_.get()});
  }
  LaunchRequest device_request(int number) {
    const std::uint64_t x = static_cast<std::uint64_t>(number) * 3 * kStep;
    for (std::uint32_t i = 0; i < kFloatsOfCase; ++i) {
      at(x)[i] = static_cast<float>(number);
      at(x + kStep)[i] = 0.5f;
    }
    LaunchRequest request = about(number);
    request.inputs = {{.name = "x", .offset = x, .bytes = kFloatsOfCase * 4},
                      {.name = "y", .offset = x + kStep, .bytes = kFloatsOfCase * 4}};
    request.output_offset = x + 2 * kStep;
    request.device_bytes = kSharedBytes;
    return request;
  }
  nlohmann::json device_case(int number) {
    nlohmann::json reply = device_case(number, test::vector_add_plan(kFloatsOfCase));
    const std::uint64_t out = static_cast<std::uint64_t>(number) * 3 * kStep + 2 * kStep;
    for (std::uint32_t i = 0; i < kFloatsOfCase; ++i)
      REQUIRE(at(out)[i] == static_cast<float>(number) + 0.5f);
    return reply;
  }
  /// Launches case `number`, whose inputs are in a memory file.
  nlohmann::json host_case(int number, const std::string& kernel = "fake_vector_add") {
    const std::vector<float> values(kFloatsOfCase, static_cast<float>(number));
    const UniqueFd inputs =
        create_sealed_memfd(
            "inputs", {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(float)})
            .value();
    const UniqueFd outputs = create_memfd("outputs", kStep).value();
    LaunchRequest request = about(number);
    request.inputs = {{.name = "x", .bytes = kFloatsOfCase * 4},
                      {.name = "y", .bytes = kFloatsOfCase * 4}};
    request.output_fd = 1;
    nlohmann::json reply =
        ask(request, test::vector_add_plan(kFloatsOfCase, kernel), {inputs.get(), outputs.get()});
    const Mapping out = std::move(Mapping::map(outputs.get(), kStep, true).value());
    if (kernel == "fake_vector_add")
      REQUIRE(reinterpret_cast<const float*>(out.data())[0] == 2 * static_cast<float>(number));
    return reply;
  }
  void release() {
    REQUIRE(send_frame(ours_.get(), to_header(ReleaseRequest{}), {}, {}, deadline()));
  }

  CountedGpu gpu;
  std::size_t looks = 0, mapped_in_run = 0;
  Status ended;

 private:
  static Deadline deadline() { return Deadline::after_ms(60'000); }
  float* at(std::uint64_t offset) { return reinterpret_cast<float*>(memory_.data() + offset); }
  static LaunchRequest about(int number) {
    LaunchRequest request;
    request.case_id = "case " + std::to_string(number);
    request.output_bytes = kStep;
    request.memory_id = kJob;
    request.gpu_memory_bytes = 1 << 28;
    return request;
  }
  nlohmann::json ask(const LaunchRequest& request, const Plan& plan, const std::vector<int>& fds) {
    REQUIRE(send_frame(ours_.get(), to_header(request), encode_plan(plan), fds, deadline()));
    return receive();
  }
  nlohmann::json receive() {
    Result<Frame> frame = receive_frame(ours_.get(), deadline());
    REQUIRE(frame);
    return frame->header;
  }

  UniqueFd ours_, theirs_, file_;
  Mapping memory_;
  std::thread thread_;
};

Plan faulting() {
  Plan plan = test::vector_add_plan(kFloatsOfCase, "fake_illegal_address");
  std::get<KernelOp>(plan.ops[0]).params.clear();
  return plan;
}

}  // namespace

TEST_CASE("a job with N cases in device memory maps it N + 1 times, and imports it once") {
  for (const int cases : {1, 2, 6}) {
    INFO(cases);
    Launcher launcher;
    for (int i = 0; i < cases; ++i) CHECK(launcher.device_case(i)["type"] == "launched");
    launcher.release();
    launcher.end();
    // Until this test was written, it was mapped 2 * N times.
    const ApiCalls expected{.imports = 1,
                            .releases = 1,
                            .reserves = 1,
                            .frees = 1,
                            .maps = cases + 1,
                            .accesses = cases + 1,
                            .unmaps = cases + 1};
    INFO(text_of(launcher.gpu.api_calls()));
    CHECK(launcher.gpu.api_calls() == expected);
    CHECK(launcher.gpu.shared_mappings() + launcher.gpu.hidden_mappings() == 0);
    CHECK(launcher.ended);
  }
}

TEST_CASE("cases in memory files map nothing, and keep the device memory of their job") {
  Launcher files;
  for (int i = 0; i < 4; ++i) CHECK(files.host_case(i)["holds_memory"] == false);
  files.release();
  files.end();
  CHECK(files.gpu.api_calls() == ApiCalls{});

  // Four small and two large public cases, as operators of Assay have them, and hidden cases in the
  // same order.
  Launcher mixed;
  for (int i = 0; i < 4; ++i) mixed.host_case(i);
  for (int i = 4; i < 6; ++i) mixed.device_case(i);
  CHECK(mixed.host_case(6)["holds_memory"] == true);
  CHECK(mixed.host_case(7)["holds_memory"] == true);
  for (int i = 8; i < 10; ++i) mixed.device_case(i);
  mixed.release();
  mixed.end();
  const ApiCalls expected{.imports = 1,
                          .releases = 1,
                          .reserves = 1,
                          .frees = 1,
                          .maps = 6,
                          .accesses = 6,
                          .unmaps = 6};
  INFO(text_of(mixed.gpu.api_calls()));
  CHECK(mixed.gpu.api_calls() == expected);
}

TEST_CASE("no code of a plan is loaded, runs or is unloaded while memory of the judge is mapped") {
  Launcher launcher;
  launcher.device_case(0);
  CHECK(launcher.device_case(1, test::vector_add_plan(kFloatsOfCase, "look"))["type"] ==
        "launched");
  CHECK(launcher.host_case(2, "look")["type"] == "launched");
  launcher.device_case(3);
  CHECK(launcher.host_case(4, "look")["type"] == "launched");
  CHECK(launcher.device_case(5, test::vector_add_plan(kFloatsOfCase, "look"))["type"] ==
        "launched");
  launcher.end();
  CHECK(launcher.looks == 4);
  CHECK(launcher.mapped_in_run == 0);
  CHECK(launcher.gpu.mapped_at_load() == 0);
  CHECK(launcher.gpu.mapped_at_unload() == 0);
  CHECK(launcher.gpu.loaded_kernels() == 0);
  CHECK(launcher.gpu.mapped_at_fill() == 0);
}

TEST_CASE("a fault in a case leaves earlier outputs to the judge, and nothing mapped") {
  Launcher launcher;
  launcher.device_case(0);
  launcher.device_case(1);
  const nlohmann::json fault = launcher.device_case(2, faulting());
  CHECK(fault["kind"] == "gpu_fault");
  CHECK(fault["case"] == "case 2");
  const nlohmann::json later = launcher.device_case(3, test::vector_add_plan(kFloatsOfCase));
  CHECK(later["kind"] == "gpu_fault");
  CHECK(later["message"].get<std::string>().find("lost in case 'case 2'") != std::string::npos);
  launcher.end();
  CHECK(launcher.gpu.shared_mappings() == 0);
  CHECK(launcher.gpu.mapped_at_unload() == 0);
}

TEST_CASE("a plan that fails leaves nothing mapped for the plan after it") {
  Launcher launcher;
  launcher.device_case(0);
  Plan too_large = test::vector_add_plan(kFloatsOfCase);
  too_large.buffers[2].bytes = 1ULL << 29;
  CHECK(launcher.device_case(1, too_large)["type"] == "launch_error");
  CHECK(launcher.host_case(2, "look")["type"] == "launched");
  launcher.end();
  CHECK(launcher.looks == 1);
  CHECK(launcher.mapped_in_run == 0);
}

TEST_CASE("memory of one job is gone when the first case of another job is loaded") {
  Launcher launcher;
  launcher.device_case(0);
  LaunchRequest request = launcher.device_request(1);
  for (const std::uint64_t job : {kJob + 1, std::uint64_t{0}}) {
    request.memory_id = job;
    CHECK(launcher.ask_device(request, test::vector_add_plan(kFloatsOfCase, "look"))["type"] ==
          "launched");
    CHECK(launcher.gpu.shared_mappings() + launcher.gpu.hidden_mappings() == (job == 0 ? 0 : 1));
  }
  launcher.end();
  CHECK(launcher.looks == 2);
  CHECK(launcher.mapped_in_run == 0);
  CHECK(launcher.gpu.mapped_at_load() == 0);
}

TEST_CASE("a request that is refused leaves nothing mapped for the plan after it") {
  for (int wrong = 0; wrong < 5; ++wrong) {
    INFO(wrong);
    Launcher launcher;
    launcher.device_case(0);  // leaves the memory mapped
    LaunchRequest request = launcher.device_request(1);
    switch (wrong) {
      case 0: request.device_bytes /= 2; break;  // another size of the same memory
      case 1: request.inputs[0].offset = kSharedBytes; break;
      case 2: request.output_offset = kSharedBytes; break;
      case 3: request.gpu_memory_bytes = 1; break;
      default: request.inputs.pop_back(); break;  // the plan names an input that is not there
    }
    CHECK(launcher.ask_device(request, test::vector_add_plan(kFloatsOfCase, "look"))["type"] ==
          "launch_error");
    launcher.host_case(2, "look");
    launcher.device_case(3, test::vector_add_plan(kFloatsOfCase, "look"));
    launcher.end();
    CHECK(launcher.looks == 2);
    CHECK(launcher.mapped_in_run == 0);
    CHECK(launcher.gpu.mapped_at_load() == 0);
  }
}
