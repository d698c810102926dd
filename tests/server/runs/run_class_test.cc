// Tests that the grades of a run are from devices whose times can be compared.
#include "sandbox/job/device_class.h"
#include "tests/catch.h"
#include "tests/server/runs/services_fixture.h"

namespace assay::server {
namespace {

using sandbox::JobKind;
using testing::ServicesFixture;
using tools::Track;

constexpr const char* kPass = "# fake: pass\n";

/// A fake device that claims to be a GPU.
class NamedGpu final : public sandbox::Device {
 public:
  NamedGpu(std::string name, std::string gpu) : name_(std::move(name)), gpu_(std::move(gpu)) {}
  sandbox::DeviceInfo info() const override {
    return {.name = name_,
            .description = gpu_,
            .can_time = true,
            .default_target = "cuda:90",
            .hardware = {.name = gpu_, .memory_bytes = 1LL << 30, .driver = "580.1"}};
  }
  sandbox::Verdict execute(const sandbox::Job& job, sandbox::JobMonitor& monitor) override {
    sandbox::Verdict verdict = fake_->execute(job, monitor);
    verdict.provenance.device_name = gpu_;
    return verdict;
  }

 private:
  const std::string name_, gpu_;
  const std::unique_ptr<sandbox::Device> fake_ = sandbox::make_fake_device(1);
};

using Gpus = std::vector<std::pair<std::string, std::string>>;  // names of devices and of GPUs

class Runs {
 public:
  explicit Runs(const Gpus& gpus) { open(gpus); }

  void open(const Gpus& gpus) {
    services.close();
    Devices devices;
    for (const auto& [name, gpu] : gpus)
      devices.emplace_back(name, std::make_unique<NamedGpu>(name, gpu));
    services.open(std::move(devices));
  }
  Result<std::string> offer(const std::string& run, const std::string& device,
                            JobKind kind = JobKind::grade, const std::string& op = "vector_add",
                            const std::string& source = kPass) {
    return services->jobs().submit({}, services.job(source, kind, op), run, device);
  }
  void grade(const std::string& run, const std::string& device,
             const std::string& op = "vector_add", const std::string& source = kPass) {
    const auto job = offer(run, device, JobKind::grade, op, source);
    REQUIRE(job);
    services.end_of(*job);
  }

  ServicesFixture services;
};

}  // namespace

TEST_CASE("a run is graded by one class of devices, and a refused grade is not charged") {
  Runs runs({{"a", "NVIDIA H200"}, {"b", "NVIDIA H100"}, {"c", "NVIDIA H200"}});
  const std::string run = runs.services.start(Track::iterative);
  runs.grade(run, "a");
  const auto other = runs.offer(run, "b", JobKind::grade, "row_sum");
  REQUIRE_FALSE(other);
  CHECK(other.error().code == ErrorCode::permission_denied);
  CHECK(other.error().message ==
        "device 'a' graded this run, and grades of device 'b' cannot be compared with its grades. "
        "Use device 'a'; or `start_run` begins another run");
  const auto left = runs.services->runs().calls_left({}, run, "row_sum", JobKind::grade);
  REQUIRE(left);
  CHECK(left->left == 1);
  runs.grade(run, "c", "row_sum");
  runs.grade(runs.services.start(Track::iterative), "b");  // another run
}

TEST_CASE("practice and calls before the grade may use any device") {
  Runs runs({{"a", "NVIDIA H200"}, {"b", "NVIDIA H100"}});
  const std::string run = runs.services.start(Track::iterative);
  runs.services.end_of(runs.offer(run, "b", JobKind::test).value());
  runs.grade(run, "a");
  runs.services.end_of(runs.offer(run, "b", JobKind::test).value());
  CHECK(runs.offer("", "b"));
  CHECK(*runs.services->store().device_names(run) == std::vector<std::string>{"NVIDIA H200"});
}

TEST_CASE("without grades, the devices of a run are those of its other jobs") {
  Runs runs({{"a", "NVIDIA H200"}, {"b", "NVIDIA H100"}});
  const std::string run = runs.services.start(Track::iterative);
  for (const char* device : {"a", "b"})
    runs.services.end_of(runs.offer(run, device, JobKind::test).value());
  CHECK(*runs.services->store().device_names(run) ==
        std::vector<std::string>{"NVIDIA H100", "NVIDIA H200"});
}

TEST_CASE("a grade of two devices that are offered at once is accepted for the first one only") {
  Runs runs({{"a", "NVIDIA H200"}, {"b", "NVIDIA H100"}});
  const std::string run = runs.services.start(Track::iterative);
  std::vector<tools::NewJob> jobs;
  for (const auto& [device, op] :
       {std::pair("a", "vector_add"), std::pair("b", "row_sum"), std::pair("a", "row_sum")})
    jobs.push_back(
        {.job = runs.services.job(kPass, JobKind::grade, op), .run = run, .device = device});
  const auto answers = runs.services->jobs().submit_all({}, std::move(jobs));
  CHECK(answers[0]);
  REQUIRE_FALSE(answers[1]);
  CHECK(answers[1].error().code == ErrorCode::permission_denied);
  CHECK(answers[2]);
}

TEST_CASE("a grade that was not charged does not bind the run to its device") {
  Runs runs({{"a", "NVIDIA H200"}, {"b", "NVIDIA H100"}});
  const std::string run = runs.services.start(Track::iterative);
  runs.grade(run, "a", "vector_add", "# fake: error=internal_error\n");
  runs.grade(run, "b");
}

TEST_CASE("a device that got another name still counts, if its GPU is of the same class") {
  Runs runs(Gpus{{"a", "NVIDIA H200"}});
  const std::string run = runs.services.start(Track::iterative);
  runs.grade(run, "a");
  runs.open({{"pool", "NVIDIA H200"}, {"b", "NVIDIA H100"}});
  const auto other = runs.offer(run, "b", JobKind::grade, "row_sum");
  REQUIRE_FALSE(other);
  CHECK(other.error().message.find("This server has no such device now; or `start_run`") !=
        std::string::npos);
  runs.grade(run, "pool", "row_sum");
}

TEST_CASE("a device that got another GPU does not go on with a run") {
  Runs runs(Gpus{{"a", "NVIDIA H200"}});
  const std::string run = runs.services.start(Track::iterative);
  runs.grade(run, "a");
  runs.open({{"a", "NVIDIA H100"}});
  const auto other = runs.offer(run, "a", JobKind::grade, "row_sum");
  REQUIRE_FALSE(other);
  CHECK(other.error().code == ErrorCode::permission_denied);
  CHECK(other.error().message ==
        "device 'a' graded this run when its GPU was NVIDIA H200, and it is NVIDIA H100 now. Their "
        "grades cannot be compared; `start_run` begins another run");
  runs.open({{"a", "NVIDIA H200"}});
  runs.grade(run, "a", "row_sum");
}

TEST_CASE("a grade that was cancelled while it waited does not hide the GPU of a run") {
  Runs runs(Gpus{{"a", "NVIDIA H200"}});
  const std::string run = runs.services.start(Track::iterative);
  const auto busy = runs.offer("", "a", JobKind::test, "vector_add", "# fake: sleep_ms=60000\n");
  const auto cancelled = runs.offer(run, "a");
  REQUIRE(cancelled);
  REQUIRE(runs.services->jobs().cancel({}, *cancelled));
  runs.services.end_of(*cancelled);
  REQUIRE(runs.services->jobs().cancel({}, busy.value()));
  runs.grade(run, "a", "row_sum");
  runs.open({{"a", "NVIDIA H100"}});
  const auto other = runs.offer(run, "a", JobKind::grade, "softmax");
  REQUIRE_FALSE(other);
  CHECK(other.error().code == ErrorCode::permission_denied);
}

}  // namespace assay::server
