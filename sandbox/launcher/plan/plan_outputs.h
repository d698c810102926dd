// Where the outputs of a plan lie: dtypes, the bytes that a strided output spans, and the offset of
// each output in the output memfd. Pure functions, thread-safe.
//
//   const std::vector<std::uint64_t> offsets = output_offsets(plan);   // one more than outputs
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sandbox/launcher/plan/plan.h"

namespace assay::sandbox {

inline constexpr std::uint64_t kOutputAlignment = 256;  // bytes; of each output in the output memfd

/// Rounds an offset in the output memfd up to kOutputAlignment.
std::uint64_t aligned_output(std::uint64_t offset);

/// Bytes of an element of a dtype of docs/reference/frames.md; nothing for an unknown name.
std::optional<std::uint64_t> dtype_bytes(std::string_view dtype);

/// "float64, float32, ..."
std::string dtype_names();

/// Bytes from the first to past the last element; 0 for an empty tensor. Nothing when the shape,
/// the strides or the dtype are not legal, or when the span does not fit 64 bits.
std::optional<std::uint64_t> output_span_bytes(const PlanOutput& output);

/// Where the span of each output begins in the output memfd, in order, and the end of the last. The
/// plan must have passed check_plan().
std::vector<std::uint64_t> output_offsets(const Plan& plan);

}  // namespace assay::sandbox
