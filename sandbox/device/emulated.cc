#include "sandbox/device/emulated.h"

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <map>
#include <string>
#include <utility>

#include "sandbox/device/cuda.h"

namespace assay::sandbox {
namespace {

constexpr const char* kVariable = "ASSAY_EMULATOR";
constexpr std::int64_t kLaunchMs = 30 * 60'000;  // the time limit of a case

class EmulatedDevice final : public Device {
 public:
  explicit EmulatedDevice(std::unique_ptr<Device> device) : device_(std::move(device)) {}

  DeviceInfo info() const override {
    DeviceInfo info = device_->info();
    info.can_time = false;
    return info;
  }
  Status wait_until_ready(const Deadline& deadline) override {
    return device_->wait_until_ready(deadline);
  }
  Result<std::vector<LayerReport>> layers(const Deadline& deadline) override {
    return device_->layers(deadline);
  }
  std::map<std::string, std::int64_t> processes() const override { return device_->processes(); }
  Verdict execute(const Job& job, JobMonitor& monitor) override {
    Job slow = job;
    slow.limits.launch_wall_ms = std::max(slow.limits.launch_wall_ms, kLaunchMs);
    return device_->execute(slow, monitor);
  }

 private:
  std::unique_ptr<Device> device_;
};

}  // namespace

Result<std::unique_ptr<Device>> make_emulated_device(const SandboxConfig& config) {
  const char* program = std::getenv(kVariable);
  if (program == nullptr || *program != '/')
    return fail(ErrorCode::unavailable,
                std::string("device emulated cannot be used: set ") + kVariable +
                    " to the absolute path of an emulator's program (docs/explanation/amd.md)");
  SandboxConfig one = config;
  one.parked_launchers = 1;
  one.spare_launchers = 0;  // each launcher has an emulator, so --spare-launchers is ignored
  one.host_tier = false;
  Result<std::unique_ptr<Device>> device =
      make_cuda_device(one, {.index = 0, .driver = "emulated", .judge_device = "cpu"});
  if (!device) return fail(device.error());
  return std::unique_ptr<Device>(std::make_unique<EmulatedDevice>(std::move(*device)));
}

}  // namespace assay::sandbox
