#include "sandbox/gpu/suite_judges.h"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <utility>

#include "sandbox/jail/amd_nodes.h"
#include "sandbox/jail/gpu_nodes.h"
#include "sandbox/pool/jailed_judge.h"

namespace assay::sandbox {
namespace {

/// The judges of trusted operators start at once only if the device has no imported suite. Usually
/// a server has the operators of only one suite.
JudgeGroup::Options trusted(const SandboxConfig& config, Spawner& spawner,
                            const JudgeSettings& settings) {
  const auto make = [config, &spawner](const std::string& device, int number) {
    return std::make_unique<TrustedJudgeProcess>(config, spawner, device, number);
  };
  JudgeGroup::Options made{
      .limits = settings.limits,
      .make = [make, device = settings.device](int number) { return make(device, number); },
      .start = config.imported_suites.empty()};
  if (settings.describes) made.make_describing = [make] { return make("cpu", 0); };
  return made;
}

/// The judges of a suite start at once only if the device has no other imported suite. With several
/// suites, the slots may be too few for as many judges as the device has otherwise.
JudgeGroup::Options jailed(CandidatePool& pool, const SandboxConfig& config,
                           const JudgeSettings& settings) {
  const auto suites = static_cast<int>(config.imported_suites.size());
  JudgeQueue::Limits limits = settings.limits;
  limits.judges =
      std::clamp(CandidatePool::kJudgeSlots / suites - kSpareJudgeSlots, 1, settings.limits.judges);
  limits.loaders = std::min(limits.loaders, limits.judges);
  const std::optional<VisibleGpus> lone = visible_gpus(settings.device);
  const std::string device = lone ? lone->device : settings.device;
  JudgeGroup::Options made{
      .limits = limits,
      .make = [&pool, device](int) { return std::make_unique<JailedJudgeProcess>(pool, device); },
      .start = suites == 1};
  if (settings.describes)
    made.make_describing = [&pool] { return std::make_unique<JailedJudgeProcess>(pool, "cpu"); };
  return made;
}

}  // namespace

std::optional<GpuAccess> gpu_access(const std::string& device) {
  const std::size_t colon = device.find(':');
  const std::string kind = device.substr(0, colon);
  if (colon == std::string::npos || (kind != "cuda" && kind != "hip")) return std::nullopt;
  GpuAccess access{.index = std::atoi(device.c_str() + colon + 1), .ordinal = 0, .devices = {}};
  if (kind == "hip") {
    access.devices = amd_device_files();
    return access;
  }
  const std::string node = gpu_node(access.index).value_or("");
  access.ordinal = gpu_ordinal(node).value_or(0);
  for (const std::string& path :
       {std::string("/dev/nvidiactl"), std::string("/dev/nvidia-uvm"), node}) {
    if (::access(path.c_str(), F_OK) == 0) access.devices.push_back(path);
  }
  return access;
}

SuiteJudges::Suite::Suite(const SandboxConfig& config, Spawner& spawner,
                          const JudgeSettings& settings, std::size_t number)
    : folder(config.imported_suites[number]),
      pool(judge_pool_config(config, number, gpu_access(settings.device)), spawner),
      group(jailed(pool, config, settings)) {}

SuiteJudges::SuiteJudges(const SandboxConfig& config, Spawner& spawner,
                         const JudgeSettings& settings)
    : trusted_(trusted(config, spawner, settings)) {
  for (std::size_t number = 0; number < config.imported_suites.size(); ++number)
    suites_.push_back(std::make_unique<Suite>(config, spawner, settings, number));
}

JudgeGroup& SuiteJudges::of(const std::string& operator_dir) {
  for (const std::unique_ptr<Suite>& suite : suites_) {
    if (is_in_suite(operator_dir, suite->folder)) return suite->group;
  }
  return trusted_;
}

Status SuiteJudges::settle(const std::string& job, const Deadline& deadline) {
  const std::int64_t each_ms = deadline.remaining_ms();
  ASSAY_RETURN_IF_ERROR(trusted_.settle(job, deadline));
  for (const std::unique_ptr<Suite>& suite : suites_)
    ASSAY_RETURN_IF_ERROR(suite->group.settle(job, Deadline::after_ms(each_ms, deadline.stop())));
  return {};
}

void SuiteJudges::free_memory(const Deadline& deadline) {
  const std::int64_t each_ms = deadline.remaining_ms();
  trusted_.free_memory(deadline);
  for (const std::unique_ptr<Suite>& suite : suites_)
    suite->group.free_memory(Deadline::after_ms(each_ms, deadline.stop()));
}

}  // namespace assay::sandbox
