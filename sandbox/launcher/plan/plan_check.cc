#include "sandbox/launcher/plan/plan_check.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <set>
#include <utility>

#include "sandbox/launcher/plan/plan.h"

namespace assay::sandbox {
namespace {

tl::unexpected<Error> refuse(const std::string& where, const std::string& reason) {
  return fail(ErrorCode::invalid_argument, where + ": " + reason);
}

std::string describe(const Plan& plan, std::uint32_t index) {
  const PlanBuffer& buffer = plan.buffers[index];
  const char* kind = buffer.kind == BufferKind::input     ? "input"
                     : buffer.kind == BufferKind::scratch ? "scratch"
                                                          : "constant";
  return "buffer " + std::to_string(index) + " (" + kind +
         (buffer.name.empty() ? "" : " " + buffer.name) + ", " + std::to_string(buffer.bytes) +
         " bytes)";
}

/// Checks that the range `[offset, offset + bytes)` is inside the buffer. An empty range may begin
/// at the buffer's end.
Status check_range(const Plan& plan, const std::string& where, std::uint32_t index,
                   std::uint64_t offset, std::uint64_t bytes) {
  if (index >= plan.buffers.size()) {
    return refuse(where, "buffer " + std::to_string(index) + " does not exist; the plan has " +
                             std::to_string(plan.buffers.size()));
  }
  const std::uint64_t size = plan.buffers[index].bytes;
  if (offset > size || bytes > size - offset) {
    return refuse(where, std::to_string(bytes) + " bytes from " + std::to_string(offset) +
                             " on are outside " + describe(plan, index));
  }
  return {};
}

Status check_buffers(const Plan& plan, const PlanRules& rules) {
  std::set<std::string_view> seen;
  for (std::uint32_t i = 0; i < plan.buffers.size(); ++i) {
    const PlanBuffer& buffer = plan.buffers[i];
    const std::string where = "buffer " + std::to_string(i);
    if (buffer.kind == BufferKind::constant ? buffer.constant.size() != buffer.bytes
                                            : !buffer.constant.empty()) {
      return refuse(where, "carries " + std::to_string(buffer.constant.size()) +
                               " constant bytes; a constant carries all of its bytes, others none");
    }
    if (buffer.kind != BufferKind::input) {
      if (!buffer.name.empty()) return refuse(where, "has a name; only inputs have one");
      continue;
    }
    const auto input =
        std::find_if(rules.inputs.begin(), rules.inputs.end(),
                     [&](const PlanInput& known) { return known.name == buffer.name; });
    if (input == rules.inputs.end()) {
      std::string known;
      for (const PlanInput& one : rules.inputs) known += (known.empty() ? "" : ", ") + one.name;
      return refuse(where, "input '" + buffer.name +
                               "' is no tensor argument of the case; valid: " +
                               (known.empty() ? "none" : known));
    }
    if (!seen.insert(buffer.name).second)
      return refuse(where, "input '" + buffer.name + "' appears twice");
    if (input->bytes != buffer.bytes) {
      return refuse(where, "input '" + buffer.name + "' has " + std::to_string(input->bytes) +
                               " bytes, the plan says " + std::to_string(buffer.bytes));
    }
  }
  return {};
}

Status check_binaries(const Plan& plan) {
  for (std::size_t i = 0; i < plan.binaries.size(); ++i) {
    const PlanBinary& binary = plan.binaries[i];
    const std::string where = "binary " + std::to_string(i);
    if (binary.kernel.empty() || binary.kernel.find('\0') != std::string::npos)
      return refuse(where, "the kernel's name is empty or contains a zero byte");
    // PTX text is rejected: the driver would compile it, and the driver's PTX compiler is a large
    // attack surface. No recorded plan needs PTX.
    if (Status elf = check_elf(binary.image); !elf)
      return refuse(where + ": kernel '" + binary.kernel + "'", elf.error().message);
  }
  return {};
}

std::uint64_t product(const Dim3& dims) {
  return static_cast<std::uint64_t>(dims[0]) * dims[1] * dims[2];
}

Status check_extents(const std::string& where, const KernelOp& op) {
  constexpr std::uint64_t kMaxGridX = (1ULL << 31) - 1;
  constexpr std::uint64_t kMaxGridYz = 65535;
  const auto zero = [](const Dim3& dims) { return dims[0] == 0 || dims[1] == 0 || dims[2] == 0; };
  if (zero(op.grid) || zero(op.block) || zero(op.cluster))
    return refuse(where, "grid, block and cluster extents start at 1");
  if (op.grid[0] > kMaxGridX || op.grid[1] > kMaxGridYz || op.grid[2] > kMaxGridYz)
    return refuse(where, "the grid is over 2147483647 x 65535 x 65535 blocks");
  // Each extent is checked before the product is computed, so that the product cannot overflow.
  const auto over = [](const Dim3& dims, std::uint32_t limit) {
    return dims[0] > limit || dims[1] > limit || dims[2] > limit || product(dims) > limit;
  };
  if (over(op.block, kMaxThreadsPerBlock))
    return refuse(where, "the block is over " + std::to_string(kMaxThreadsPerBlock) + " threads");
  if (over(op.cluster, kMaxBlocksPerCluster))
    return refuse(where, "the cluster is over " + std::to_string(kMaxBlocksPerCluster) + " blocks");
  for (std::size_t i = 0; i < 3; ++i) {
    if (op.grid[i] % op.cluster[i] != 0)
      return refuse(where,
                    "the grid is no multiple of the cluster in dimension " + std::to_string(i));
  }
  return {};
}

/// The number of bits of one element, for each CUtensorMapDataType. The list lacks the six-bit
/// types, because the recorder does not write them.
constexpr std::array<std::uint64_t, 15> kTensorMapBits = {8,  16, 32, 32, 64, 64, 16, 32,
                                                          64, 16, 32, 32, 32, 4,  4};
constexpr std::uint8_t kFirstFloatTensorMap = 6;
constexpr std::uint8_t kLastFloatTensorMap = 12;
constexpr std::uint8_t kMaxTensorMapSwizzle = 3;  // this value means 128 bytes
constexpr std::uint64_t kTensorMapAlignment = 16;
constexpr std::uint64_t kMaxTensorMapExtent = 1ULL << 32;
constexpr std::uint64_t kMaxTensorMapStride = 1ULL << 40;
constexpr std::uint32_t kMaxTensorMapBox = 256;

/// Checks the driver's rules that do not depend on the device. Also checks that the whole tensor is
/// inside its buffer.
Status check_tensor_map(const Plan& plan, const std::string& where, const TensorMapParam& map) {
  const std::size_t rank = map.shape.size();
  if (rank == 0 || rank > kMaxTensorMapRank || map.box.size() != rank ||
      map.strides.size() != rank - 1) {
    return refuse(
        where, "tensor map: want 1 to " + std::to_string(kMaxTensorMapRank) +
                   " dimensions, each with an extent and a box, all but the first with a stride");
  }
  if (map.type >= kTensorMapBits.size())
    return refuse(where, "tensor map: element type " + std::to_string(map.type) + " is over " +
                             std::to_string(kTensorMapBits.size() - 1));
  if (map.swizzle > kMaxTensorMapSwizzle)
    return refuse(where, "tensor map: swizzle " + std::to_string(map.swizzle) + " is over " +
                             std::to_string(kMaxTensorMapSwizzle));
  const bool is_float = map.type >= kFirstFloatTensorMap && map.type <= kLastFloatTensorMap;
  if (map.nan_outside > (is_float ? 1 : 0))
    return refuse(where, "tensor map: padding " + std::to_string(map.nan_outside) +
                             "; valid: 0 (zeros), and 1 (NaN) for floats");
  if (map.offset % kTensorMapAlignment != 0)
    return refuse(where,
                  "tensor map: offset " + std::to_string(map.offset) + " is no multiple of 16");
  for (std::size_t i = 0; i < rank; ++i) {
    if (map.shape[i] == 0 || map.shape[i] > kMaxTensorMapExtent)
      return refuse(where, "tensor map: extents are from 1 to 4294967296");
    if (map.box[i] == 0 || map.box[i] > kMaxTensorMapBox)
      return refuse(where,
                    "tensor map: box extents are from 1 to " + std::to_string(kMaxTensorMapBox));
  }
  std::uint64_t span = (map.shape[0] * kTensorMapBits[map.type] + 7) / 8;
  for (std::size_t i = 1; i < rank; ++i) {
    const std::uint64_t stride = map.strides[i - 1];
    if (stride % kTensorMapAlignment != 0 || stride >= kMaxTensorMapStride)
      return refuse(where, "tensor map: strides are multiples of 16 below 2^40 bytes");
    std::uint64_t reach = 0;
    if (__builtin_mul_overflow(map.shape[i] - 1, stride, &reach) ||
        __builtin_add_overflow(span, reach, &span)) {
      return refuse(where, "tensor map: its span does not fit 64 bits");
    }
  }
  return check_range(plan, where + ": tensor map", map.buffer, map.offset, span);
}

Status check_param(const Plan& plan, const std::string& where, const KernelOp& op,
                   const KernelParam& param) {
  if (const auto* pointer = std::get_if<PointerParam>(&param))
    return check_range(plan, where, pointer->buffer, pointer->offset, 0);
  if (const auto* map = std::get_if<TensorMapParam>(&param))
    return check_tensor_map(plan, where, *map);
  if (const auto* scratch = std::get_if<GlobalScratchParam>(&param)) {
    if (scratch->alignment == 0 || (scratch->alignment & (scratch->alignment - 1)) != 0 ||
        scratch->alignment > kMaxScratchAlignment) {
      return refuse(where, "alignment " + std::to_string(scratch->alignment) +
                               " is no power of two from 1 to " +
                               std::to_string(kMaxScratchAlignment));
    }
    std::uint64_t total = 0;
    if (__builtin_mul_overflow(scratch->bytes_per_program, block_count(op), &total))
      return refuse(where, "the scratch of all blocks does not fit 64 bits");
  }
  return {};
}

struct OpCheck {
  const Plan& plan;
  const std::string where;

  Status operator()(const KernelOp& op) const {
    if (op.binary >= plan.binaries.size()) {
      return refuse(where, "binary " + std::to_string(op.binary) +
                               " does not exist; the plan has " +
                               std::to_string(plan.binaries.size()));
    }
    const std::string at = where + ": kernel '" + plan.binaries[op.binary].kernel + "'";
    if ((op.flags & ~kAllKernelFlags) != 0)
      return refuse(at, "flags " + std::to_string(op.flags) +
                            " have unknown bits; valid: 1 cooperative, 2 dependent launch");
    if (Status status = check_extents(at, op); !status) return status;
    for (std::size_t i = 0; i < op.params.size(); ++i) {
      if (Status status =
              check_param(plan, at + ": parameter " + std::to_string(i), op, op.params[i]);
          !status)
        return status;
    }
    return {};
  }
  Status operator()(const FillOp& op) const {
    std::uint64_t bytes = 0;
    if (__builtin_mul_overflow(op.count, static_cast<std::uint64_t>(op.width), &bytes))
      return refuse(where, "fill: count times width does not fit 64 bits");
    if (op.offset % op.width != 0) {
      return refuse(where, "fill: offset " + std::to_string(op.offset) +
                               " is no multiple of the width " + std::to_string(op.width));
    }
    return check_range(plan, where + ": fill", op.buffer, op.offset, bytes);
  }
  Status operator()(const CopyOp& op) const {
    if (Status status =
            check_range(plan, where + ": copy destination", op.dst, op.dst_offset, op.bytes);
        !status)
      return status;
    if (Status status = check_range(plan, where + ": copy source", op.src, op.src_offset, op.bytes);
        !status)
      return status;
    const std::uint64_t apart = op.dst_offset > op.src_offset ? op.dst_offset - op.src_offset
                                                              : op.src_offset - op.dst_offset;
    if (op.dst == op.src && apart < op.bytes)
      return refuse(where, "copy: source and destination overlap");
    return {};
  }
  Status operator()(const ChoiceOp& op) const {
    if (op.alternatives.empty()) return refuse(where, "choice: there is no alternative");
    for (std::size_t i = 0; i < op.alternatives.size(); ++i) {
      for (std::size_t k = 0; k < op.alternatives[i].ops.size(); ++k) {
        const std::string at =
            where + ": alternative " + std::to_string(i) + ": operation " + std::to_string(k);
        if (Status status = std::visit(OpCheck{plan, at}, op.alternatives[i].ops[k]); !status)
          return status;
      }
    }
    return {};
  }
};

Status check_outputs(const Plan& plan, const PlanRules& rules) {
  std::uint64_t next = 0;  // at most output_bytes
  for (std::size_t i = 0; i < plan.outputs.size(); ++i) {
    const PlanOutput& output = plan.outputs[i];
    const std::string where = "output " + std::to_string(i);
    const auto item = dtype_bytes(output.dtype);
    if (!item) {
      return refuse(where, "unknown dtype; valid: " + dtype_names());
    }
    const auto span = output_span_bytes(output);
    if (!span)
      return refuse(
          where,
          "shape and strides need one number from 0 up per dimension and a span that fits 64 bits");
    if (output.offset % *item != 0)
      return refuse(where, "offset " + std::to_string(output.offset) + " is no multiple of the " +
                               std::to_string(*item) + " bytes of a " + output.dtype);
    if (Status status = check_range(plan, where, output.buffer, output.offset, *span); !status)
      return status;
    const std::uint64_t begin = aligned_output(next);
    if (*span > rules.output_bytes || begin > rules.output_bytes - *span) {
      return refuse(where, "the outputs up to here need more than the " +
                               std::to_string(rules.output_bytes) +
                               " bytes that the case reserves for outputs");
    }
    next = begin + *span;
  }
  return {};
}

/// Checks that all choices of one tunable have the same number of alternatives, because all of them
/// use the same alternative.
Status check_tunables(const Plan& plan) {
  std::map<std::uint32_t, const ChoiceOp*> seen;
  for (std::size_t i = 0; i < plan.ops.size(); ++i) {
    const auto* choice = std::get_if<ChoiceOp>(&plan.ops[i]);
    if (choice == nullptr) continue;
    const ChoiceOp* first = seen.emplace(choice->tunable, choice).first->second;
    if (first->alternatives.size() != choice->alternatives.size()) {
      return refuse("operation " + std::to_string(i),
                    "choice: tunable " + std::to_string(choice->tunable) + " had " +
                        std::to_string(first->alternatives.size()) +
                        " alternatives before, and has " +
                        std::to_string(choice->alternatives.size()) + " here");
    }
  }
  return {};
}

/// Returns true if a binary for `target` runs on `device`. The major versions must be equal, and
/// the minor version of the device must be at least that of the target.
bool runs_on(const std::string& target, const std::string& device) {
  const auto parse = [](const std::string& text) -> std::pair<std::string, int> {
    const auto colon = text.find(':');
    if (colon == std::string::npos || text.size() - colon > 5) return {text, -1};
    int number = 0;
    for (const char c : text.substr(colon + 1)) {
      if (c < '0' || c > '9') return {text, -1};
      number = number * 10 + (c - '0');
    }
    return {text.substr(0, colon), number};
  };
  const auto [kind, version] = parse(target);
  const auto [device_kind, device_version] = parse(device);
  if (version < 0 || device_version < 0) return target == device;
  return kind == device_kind && version / 10 == device_version / 10 && version <= device_version;
}

}  // namespace

std::uint64_t block_count(const KernelOp& op) { return product(op.grid); }

Status check_plan(const Plan& plan, const PlanRules& rules) {
  if (!runs_on(plan.target, rules.target))
    return refuse("target",
                  "the plan is for '" + plan.target + "', this device runs " + rules.target);
  if (Status status = check_buffers(plan, rules); !status) return status;
  if (Status status = check_binaries(plan); !status) return status;
  for (std::size_t i = 0; i < plan.ops.size(); ++i) {
    if (Status status = std::visit(OpCheck{plan, "operation " + std::to_string(i)}, plan.ops[i]);
        !status)
      return status;
  }
  if (Status status = check_tunables(plan); !status) return status;
  if (plan.outputs.empty()) return refuse("outputs", "there is none");
  return check_outputs(plan, rules);
}

}  // namespace assay::sandbox
