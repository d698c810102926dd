// check_plan checks a decoded plan before anything is allocated or loaded: every index, range, size
// and name against the plan itself, the case's arguments and the device. Replay relies on it and
// checks nothing again.
//
//   PlanRules rules{.target = "cuda:90", .inputs = {{"x", 4096}}, .output_bytes = 4096};
//   Status status = check_plan(plan, rules);
//
// An error reads "operation 2: fill: 16 bytes from 8 on are outside buffer 1 (scratch, 16 bytes)".
// Pure functions, thread-safe.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "sandbox/launcher/plan/plan.h"

namespace assay::sandbox {

inline constexpr std::uint32_t kMaxThreadsPerBlock = 1024;
inline constexpr std::uint32_t kMaxBlocksPerCluster = 16;  // the non-portable maximum
inline constexpr std::uint32_t kMaxScratchAlignment = 4096;

struct PlanInput {
  std::string name;
  std::uint64_t bytes = 0;
};

struct PlanRules {
  std::string target;              // the device's, "cuda:90"
  std::vector<PlanInput> inputs;   // the case's tensor arguments
  std::uint64_t output_bytes = 0;  // room in the output memfd
};

/// Errors: `invalid_argument`, which names the place in the plan, the value and the legal values.
Status check_plan(const Plan& plan, const PlanRules& rules);

/// Thread blocks of a launch. The bytes of a global scratch parameter are multiplied by it.
std::uint64_t block_count(const KernelOp& op);

}  // namespace assay::sandbox
