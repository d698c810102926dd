// Defines the launch plan (docs/reference/launch-plan.md), which describes the work that a
// submission makes the GPU do for one case. This file declares the plan's structs, the reader of
// the plan's bytes, and the layout of the outputs.
//
//   Result<Plan> plan = decode_plan(bytes);            // the bytes come from a candidate
//   Status status = check_plan(*plan, rules);          // plan_check.h
//   std::vector<std::uint64_t> offsets = output_offsets(*plan);
//
// decode_plan() checks the form of the bytes: sizes, counts, enum values and the limits below. It
// reserves memory for a list only after it has checked that enough bytes follow for all elements.
// check_plan() checks the plan against the case and the device. The structs are plain data. The
// functions are pure and thread-safe.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/result.h"

namespace assay::sandbox {

inline constexpr std::string_view kPlanMagic = "ASSAYPLN";
inline constexpr std::uint32_t kPlanVersion = 2;  // the version that the recorder writes
// The oldest version that decode_plan() accepts. Version 2 added choices and tensor maps.
inline constexpr std::uint32_t kOldestPlanVersion = 1;
inline constexpr std::uint64_t kMaxPlanBytes = 64ULL << 20;
inline constexpr std::uint32_t kMaxPlanBuffers = 4096;
inline constexpr std::uint32_t kMaxPlanBinaries = 256;
// The maximum number of operations of a plan, including the operations of all alternatives (see
// ChoiceOp).
inline constexpr std::uint32_t kMaxPlanOperations = 16384;
inline constexpr std::uint32_t kMaxAlternatives = 64;  // for each choice
inline constexpr std::uint32_t kMaxKernelParams = 256;
inline constexpr std::uint32_t kMaxPlanOutputs = 64;
inline constexpr std::uint32_t kMaxRank = 8;
inline constexpr std::uint32_t kMaxStringBytes = 4096;
inline constexpr std::uint32_t kMaxTensorMapRank = 5;
inline constexpr std::uint32_t kFlagCooperative = 1;
inline constexpr std::uint32_t kFlagDependentLaunch = 2;  // programmatic dependent launch
inline constexpr std::uint32_t kAllKernelFlags = kFlagCooperative | kFlagDependentLaunch;

/// The first byte of an operation.
enum class OpCode : std::uint8_t { kernel = 0, fill = 1, copy = 2, choice = 3 };
/// The first byte of a kernel parameter.
enum class ParamCode : std::uint8_t {
  scalar = 0,
  pointer = 1,
  null = 2,
  global_scratch = 3,
  tensor_map = 4
};

using Dim3 = std::array<std::uint32_t, 3>;

enum class BufferKind : std::uint8_t { input = 0, scratch = 1, constant = 2 };

struct PlanBuffer {
  BufferKind kind = BufferKind::scratch;
  std::uint64_t bytes = 0;
  std::string name;      // the argument's name; empty if the buffer is no input
  std::string constant;  // exactly `bytes` bytes; empty if the buffer is no constant
  bool operator==(const PlanBuffer&) const = default;
};

struct PlanBinary {
  std::string kernel;              // the function's name in the image
  std::uint32_t shared_bytes = 0;  // dynamic shared memory per block
  std::string image;               // cubin or hsaco
  bool operator==(const PlanBinary&) const = default;
};

struct ScalarParam {
  std::uint8_t size = 4;    // 1, 2, 4 or 8 bytes
  std::uint64_t value = 0;  // only the lowest `size` bytes are used
  bool operator==(const ScalarParam&) const = default;
};
struct PointerParam {
  std::uint32_t buffer = 0;
  std::uint64_t offset = 0;  // in bytes
  bool operator==(const PointerParam&) const = default;
};
struct NullParam {
  bool operator==(const NullParam&) const = default;
};
struct GlobalScratchParam {
  std::uint64_t bytes_per_program = 0;  // for each thread block of the grid
  std::uint32_t alignment = 1;
  bool operator==(const GlobalScratchParam&) const = default;
};
/// A TMA descriptor that the submission's host code created. The launcher creates a new descriptor
/// with the address of its own buffer. The innermost dimension comes first, as in the driver.
struct TensorMapParam {
  std::uint32_t buffer = 0;
  std::uint64_t offset = 0;      // in bytes
  std::uint8_t type = 0;         // CUtensorMapDataType
  std::uint8_t swizzle = 0;      // CUtensorMapSwizzle
  std::uint8_t nan_outside = 0;  // 1: elements outside read as NaN; 0: as zero
  std::vector<std::uint64_t> shape;
  std::vector<std::uint64_t> strides;  // in bytes, for every dimension except the innermost
  std::vector<std::uint32_t> box;
  bool operator==(const TensorMapParam&) const = default;
};
using KernelParam =
    std::variant<ScalarParam, PointerParam, NullParam, GlobalScratchParam, TensorMapParam>;

struct KernelOp {
  std::uint32_t binary = 0;
  Dim3 grid{1, 1, 1};  // in thread blocks, even if there are clusters
  Dim3 block{1, 1, 1};
  Dim3 cluster{1, 1, 1};
  std::uint32_t flags = 0;
  std::vector<KernelParam> params;
  bool operator==(const KernelOp&) const = default;
};
struct FillOp {
  std::uint32_t buffer = 0;
  std::uint64_t offset = 0;  // in bytes
  std::uint64_t count = 0;   // elements
  std::uint8_t width = 1;    // bytes per element: 1, 2, 4 or 8
  std::uint64_t pattern = 0;
  bool operator==(const FillOp&) const = default;
};
struct CopyOp {
  std::uint32_t dst = 0;
  std::uint64_t dst_offset = 0;
  std::uint32_t src = 0;
  std::uint64_t src_offset = 0;
  std::uint64_t bytes = 0;
  bool operator==(const CopyOp&) const = default;
};
using SimpleOp = std::variant<KernelOp, FillOp, CopyOp>;

/// One configuration of an autotuner, with the operations that this configuration performs.
struct Alternative {
  std::string label;
  std::vector<SimpleOp> ops;
  bool operator==(const Alternative&) const = default;
};
/// Work that can be done in several ways (alternatives). The launcher times the alternatives and
/// uses the fastest alternative. All choices that belong to the same tunable use the same
/// alternative.
struct ChoiceOp {
  std::uint32_t tunable = 0;  // the number of the tunable in this plan
  std::vector<Alternative> alternatives;
  bool operator==(const ChoiceOp&) const = default;
};
using PlanOp = std::variant<KernelOp, FillOp, CopyOp, ChoiceOp>;

struct PlanOutput {
  std::uint32_t buffer = 0;
  std::uint64_t offset = 0;  // in bytes
  std::string dtype;
  std::vector<std::int64_t> shape;
  std::vector<std::int64_t> strides;  // in elements
  bool operator==(const PlanOutput&) const = default;
};

struct Plan {
  std::uint32_t version = kPlanVersion;
  std::string target;  // "cuda:90"
  std::vector<PlanBuffer> buffers;
  std::vector<PlanBinary> binaries;
  std::vector<PlanOp> ops;
  std::vector<PlanOutput> outputs;
  bool operator==(const Plan&) const = default;
};

/// Reads a plan. Errors: `corrupt` if the bytes are not a plan; the message contains the position
/// and the reason. Throws no exception except bad_alloc.
Result<Plan> decode_plan(std::string_view bytes);

/// Calls `visit(op)` for every KernelOp, FillOp and CopyOp in plan order, including the operations
/// of every alternative. Stops when `visit` returns false, and then returns false.
template <class Visit>
bool for_each_operation(const Plan& plan, Visit visit) {
  for (const PlanOp& op : plan.ops) {
    if (const auto* choice = std::get_if<ChoiceOp>(&op)) {
      for (const Alternative& alternative : choice->alternatives) {
        for (const SimpleOp& one : alternative.ops) {
          if (!std::visit(visit, one)) return false;
        }
      }
    } else if (const auto* kernel = std::get_if<KernelOp>(&op)) {
      if (!visit(*kernel)) return false;
    } else if (const auto* fill = std::get_if<FillOp>(&op)) {
      if (!visit(*fill)) return false;
    } else if (!visit(std::get<CopyOp>(op))) {
      return false;
    }
  }
  return true;
}

// The offset of each output in the output memory is a multiple of this number of bytes.
inline constexpr std::uint64_t kOutputAlignment = 256;

/// Rounds an offset in the output memory up to kOutputAlignment.
std::uint64_t aligned_output(std::uint64_t offset);

/// Returns the number of bytes of one element of `dtype` (docs/reference/frames.md). Returns
/// nothing if the name is unknown.
std::optional<std::uint64_t> dtype_bytes(std::string_view dtype);

/// Returns the names of the known dtypes, for messages: "float64, float32, ...".
std::string dtype_names();

/// Returns the number of bytes from the start of the first element to the end of the last element.
/// Returns 0 for an empty tensor. Returns nothing if the shape, the strides or the dtype are
/// invalid, or if the number exceeds 64 bits.
std::optional<std::uint64_t> output_span_bytes(const PlanOutput& output);

/// Returns the offset of each output in the output memory, in order, followed by the end of the
/// last output. The plan must have passed check_plan().
std::vector<std::uint64_t> output_offsets(const Plan& plan);

}  // namespace assay::sandbox
