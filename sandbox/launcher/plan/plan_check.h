// check_plan: what a decoded plan must satisfy before anything is allocated or loaded. Every index,
// range, size and name is checked against the plan itself, the case's arguments and the device.
// After it, replay may use the plan without a second look.
//
//   PlanRules rules{.target = "cuda:90", .inputs = {{"x", 4096}}, .output_bytes = 4096};
//   Status status = check_plan(plan, rules);       // "operation 2: fill: bytes 8 to 24 are outside
//   buffer 1 (scratch, 16 bytes)"
//
// Pure functions, thread-safe.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "sandbox/launcher/plan/plan.h"

namespace assay::sandbox {

inline constexpr std::uint32_t kMaxThreadsPerBlock = 1024;
inline constexpr std::uint32_t kMaxBlocksPerCluster = 16;  // the non-portable maximum
inline constexpr std::uint32_t kMaxScratchAlignment = 4096;
inline constexpr std::uint64_t kOutputAlignment = 256;  // of each output in the output memfd, bytes

struct PlanInput {
  std::string name;
  std::uint64_t bytes = 0;
};

struct PlanRules {
  std::string target;              // the device's, "cuda:90"
  std::vector<PlanInput> inputs;   // the case's tensor arguments
  std::uint64_t output_bytes = 0;  // room in the output memfd
};

/// `invalid_argument`, naming the place in the plan, the value and what would have been legal.
Status check_plan(const Plan& plan, const PlanRules& rules);

/// Bytes from the first to past the last element; 0 for an empty tensor. Nothing when the shape,
/// the strides or the dtype are not legal or the span does not fit 64 bits. An output's rank is
/// that of its shape.
std::optional<std::uint64_t> output_span_bytes(const PlanOutput& output);

/// Where each output's span begins in the output memfd, in order, and past the end of the last. The
/// plan must be checked.
std::vector<std::uint64_t> output_offsets(const Plan& plan);

/// Thread blocks of a launch; what a global scratch parameter is multiplied by. The plan must be
/// checked.
std::uint64_t block_count(const KernelOp& op);

/// Bytes of an element of a dtype of docs/reference/frames.md; nothing for an unknown name.
std::optional<std::uint64_t> dtype_bytes(std::string_view dtype);

}  // namespace assay::sandbox
