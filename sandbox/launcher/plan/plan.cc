#include "sandbox/launcher/plan/plan.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "base/text.h"
#include "sandbox/launcher/plan/byte_reader.h"

namespace assay::sandbox {
namespace {

// The minimum size of one element of each list, in bytes. Before memory is reserved for a list, the
// reader checks that enough bytes follow for all elements.
constexpr std::size_t kMinBufferBytes = 1 + 8 + 4 + 8;
constexpr std::size_t kMinBinaryBytes = 4 + 4 + 8;
constexpr std::size_t kMinOpBytes = 1 + 4 + 8 + 8 + 1 + 8;  // a fill; only a choice can be smaller
constexpr std::size_t kMinChoiceBytes = 1 + 4 + 4;
constexpr std::size_t kMinAlternativeBytes = 4 + 4;
constexpr std::size_t kMinParamBytes = 1;
constexpr std::size_t kMinOutputBytes = 4 + 8 + 4 + 4;

// The first version of the format that has choices and tensor maps.
constexpr std::uint32_t kChoiceVersion = 2;

// Reads a name. Names are written into messages and JSON, so they must be valid UTF-8.
std::string read_string(ByteReader& in, std::string_view what) {
  const auto size = in.number<std::uint32_t>(what);
  if (size > kMaxStringBytes)
    in.reject(what, std::to_string(size) + " bytes are over the limit of " +
                        std::to_string(kMaxStringBytes));
  const std::string_view text = in.raw_bytes(what, size);
  if (!is_utf8(text)) in.reject(what, "not UTF-8");
  return std::string(text);
}

std::string read_blob(ByteReader& in, std::string_view what) {
  return std::string(in.raw_bytes(what, in.number<std::uint64_t>(what)));
}

Dim3 read_dim3(ByteReader& in, std::string_view what) {
  Dim3 dims{};
  for (std::uint32_t& dim : dims) dim = in.number<std::uint32_t>(what);
  return dims;
}

void check_width(ByteReader& in, std::string_view what, std::uint8_t width) {
  if (width != 1 && width != 2 && width != 4 && width != 8)
    in.reject(what, std::to_string(width) + " is none of 1, 2, 4, 8");
}

PlanBuffer read_buffer(ByteReader& in) {
  PlanBuffer buffer;
  const auto kind = in.number<std::uint8_t>("buffer kind");
  if (kind > static_cast<std::uint8_t>(BufferKind::constant)) {
    in.reject("buffer kind",
              std::to_string(kind) + " is none of 0 (input), 1 (scratch), 2 (constant)");
  }
  buffer.kind = static_cast<BufferKind>(kind);
  buffer.bytes = in.number<std::uint64_t>("buffer bytes");
  buffer.name = read_string(in, "buffer name");
  buffer.constant = read_blob(in, "buffer constant");
  return buffer;
}

PlanBinary read_binary(ByteReader& in) {
  PlanBinary binary;
  binary.kernel = read_string(in, "kernel name");
  binary.shared_bytes = in.number<std::uint32_t>("shared bytes");
  binary.image = read_blob(in, "binary image");
  return binary;
}

TensorMapParam read_tensor_map(ByteReader& in) {
  TensorMapParam map;
  map.buffer = in.number<std::uint32_t>("tensor map buffer");
  map.offset = in.number<std::uint64_t>("tensor map offset");
  map.type = in.number<std::uint8_t>("tensor map type");
  map.swizzle = in.number<std::uint8_t>("tensor map swizzle");
  map.nan_outside = in.number<std::uint8_t>("tensor map padding");
  const auto rank = in.number<std::uint8_t>("tensor map rank");
  if (rank == 0 || rank > kMaxTensorMapRank)
    in.reject("tensor map rank",
              std::to_string(rank) + " is not from 1 to " + std::to_string(kMaxTensorMapRank));
  for (std::uint8_t i = 0; i < rank && in.ok(); ++i)
    map.shape.push_back(in.number<std::uint64_t>("tensor map shape"));
  for (std::uint8_t i = 1; i < rank && in.ok(); ++i)
    map.strides.push_back(in.number<std::uint64_t>("tensor map strides"));
  for (std::uint8_t i = 0; i < rank && in.ok(); ++i)
    map.box.push_back(in.number<std::uint32_t>("tensor map box"));
  return map;
}

KernelParam read_param(ByteReader& in, std::uint32_t version) {
  const auto code = in.number<std::uint8_t>("parameter kind");
  switch (static_cast<ParamCode>(code)) {
    case ParamCode::scalar: {
      ScalarParam scalar;
      scalar.size = in.number<std::uint8_t>("scalar size");
      check_width(in, "scalar size", scalar.size);
      scalar.value = in.number<std::uint64_t>("scalar value");
      return scalar;
    }
    case ParamCode::pointer: {
      PointerParam pointer;
      pointer.buffer = in.number<std::uint32_t>("pointer buffer");
      pointer.offset = in.number<std::uint64_t>("pointer offset");
      return pointer;
    }
    case ParamCode::null: return NullParam{};
    case ParamCode::global_scratch: {
      GlobalScratchParam scratch;
      scratch.bytes_per_program = in.number<std::uint64_t>("scratch bytes per program");
      scratch.alignment = in.number<std::uint32_t>("scratch alignment");
      return scratch;
    }
    case ParamCode::tensor_map:
      if (version < kChoiceVersion) break;
      return read_tensor_map(in);
  }
  in.reject("parameter kind",
            std::to_string(code) +
                " is none of 0 (scalar), 1 (pointer), 2 (null), 3 (global scratch)" +
                (version < kChoiceVersion ? "" : ", 4 (tensor map)"));
  return NullParam{};
}

KernelOp read_kernel(ByteReader& in, std::uint32_t version) {
  KernelOp op;
  op.binary = in.number<std::uint32_t>("kernel binary");
  op.grid = read_dim3(in, "grid");
  op.block = read_dim3(in, "block");
  op.cluster = read_dim3(in, "cluster");
  op.flags = in.number<std::uint32_t>("kernel flags");
  const std::uint32_t n = in.count("kernel parameters", kMaxKernelParams, kMinParamBytes);
  op.params.reserve(n);
  for (std::uint32_t i = 0; i < n && in.ok(); ++i) op.params.push_back(read_param(in, version));
  return op;
}

FillOp read_fill(ByteReader& in) {
  FillOp op;
  op.buffer = in.number<std::uint32_t>("fill buffer");
  op.offset = in.number<std::uint64_t>("fill offset");
  op.count = in.number<std::uint64_t>("fill count");
  op.width = in.number<std::uint8_t>("fill width");
  check_width(in, "fill width", op.width);
  op.pattern = in.number<std::uint64_t>("fill pattern");
  return op;
}

CopyOp read_copy(ByteReader& in) {
  CopyOp op;
  op.dst = in.number<std::uint32_t>("copy destination");
  op.dst_offset = in.number<std::uint64_t>("copy destination offset");
  op.src = in.number<std::uint32_t>("copy source");
  op.src_offset = in.number<std::uint64_t>("copy source offset");
  op.bytes = in.number<std::uint64_t>("copy bytes");
  return op;
}

/// Reads operations and counts them, including the operations of alternatives.
class OpReader {
 public:
  OpReader(ByteReader& in, std::uint32_t version) : in_(in), version_(version) {}

  PlanOp operator()() {
    const auto code = in_.number<std::uint8_t>("operation code");
    if (code == static_cast<std::uint8_t>(OpCode::choice) && version_ >= kChoiceVersion)
      return choice();
    return std::visit([](auto&& op) -> PlanOp { return std::forward<decltype(op)>(op); },
                      simple(code, version_ >= kChoiceVersion));
  }

 private:
  SimpleOp simple(std::uint8_t code, bool choice_is_legal) {
    if (++operations_ > kMaxPlanOperations)
      in_.reject("operations", "over the limit of " + std::to_string(kMaxPlanOperations) +
                                   ", those of alternatives included");
    switch (static_cast<OpCode>(code)) {
      case OpCode::kernel: return read_kernel(in_, version_);
      case OpCode::fill: return read_fill(in_);
      case OpCode::copy: return read_copy(in_);
      case OpCode::choice: break;
    }
    in_.reject("operation code", std::to_string(code) +
                                     " is none of 0 (kernel), 1 (fill), 2 (copy)" +
                                     (choice_is_legal ? ", 3 (choice)" : ""));
    return CopyOp{};
  }

  ChoiceOp choice() {
    ChoiceOp op;
    op.tunable = in_.number<std::uint32_t>("choice tunable");
    const std::uint32_t n = in_.count("alternatives", kMaxAlternatives, kMinAlternativeBytes);
    for (std::uint32_t i = 0; i < n && in_.ok(); ++i) {
      Alternative alternative;
      alternative.label = read_string(in_, "alternative label");
      const std::uint32_t m = in_.count("alternative operations", kMaxPlanOperations, kMinOpBytes);
      for (std::uint32_t k = 0; k < m && in_.ok(); ++k)
        alternative.ops.push_back(simple(in_.number<std::uint8_t>("operation code"), false));
      op.alternatives.push_back(std::move(alternative));
    }
    return op;
  }

  ByteReader& in_;
  std::uint32_t version_;
  std::uint32_t operations_ = 0;
};

PlanOutput read_output(ByteReader& in) {
  PlanOutput output;
  output.buffer = in.number<std::uint32_t>("output buffer");
  output.offset = in.number<std::uint64_t>("output offset");
  output.dtype = read_string(in, "output dtype");
  const std::uint32_t rank = in.count("output rank", kMaxRank, 2 * sizeof(std::int64_t));
  output.shape.reserve(rank);
  output.strides.reserve(rank);
  for (std::uint32_t i = 0; i < rank; ++i)
    output.shape.push_back(in.number<std::int64_t>("output shape"));
  for (std::uint32_t i = 0; i < rank; ++i)
    output.strides.push_back(in.number<std::int64_t>("output strides"));
  return output;
}

/// Reads the number of elements, and then the elements. The reserved memory is bounded by `limit`
/// and by the number of bytes that follow.
template <class T, class Read>
std::vector<T> read_list(ByteReader& in, std::string_view what, std::uint32_t limit,
                         std::size_t element_bytes, Read read) {
  const std::uint32_t n = in.count(what, limit, element_bytes);
  std::vector<T> list;
  list.reserve(n);
  for (std::uint32_t i = 0; i < n && in.ok(); ++i) list.push_back(read(in));
  return list;
}

struct Dtype {
  std::string_view name;
  std::uint64_t bytes;
};
constexpr std::array<Dtype, 13> kDtypes = {{{"float64", 8},
                                            {"float32", 4},
                                            {"float16", 2},
                                            {"bfloat16", 2},
                                            {"float8_e4m3fn", 1},
                                            {"float8_e5m2", 1},
                                            {"int64", 8},
                                            {"int32", 4},
                                            {"int16", 2},
                                            {"int8", 1},
                                            {"uint8", 1},
                                            {"uint32", 4},
                                            {"bool", 1}}};

}  // namespace

Result<Plan> decode_plan(std::string_view bytes) {
  if (bytes.size() > kMaxPlanBytes) {
    return fail(ErrorCode::corrupt, "plan: " + std::to_string(bytes.size()) +
                                        " bytes are over the limit of " +
                                        std::to_string(kMaxPlanBytes));
  }
  ByteReader in(bytes);
  if (in.raw_bytes("magic", kPlanMagic.size()) != kPlanMagic)
    in.reject("magic", "not a launch plan; one begins with ASSAYPLN");
  const auto version = in.number<std::uint32_t>("version");
  if (version < kOldestPlanVersion || version > kPlanVersion) {
    in.reject("version", std::to_string(version) + " is unknown; this launcher reads versions " +
                             std::to_string(kOldestPlanVersion) + " to " +
                             std::to_string(kPlanVersion));
  }
  Plan plan;
  plan.version = version;
  plan.target = read_string(in, "target");
  plan.buffers =
      read_list<PlanBuffer>(in, "buffers", kMaxPlanBuffers, kMinBufferBytes, read_buffer);
  plan.binaries =
      read_list<PlanBinary>(in, "binaries", kMaxPlanBinaries, kMinBinaryBytes, read_binary);
  OpReader read_op(in, version);
  plan.ops = read_list<PlanOp>(in, "operations", kMaxPlanOperations, kMinChoiceBytes,
                               [&](ByteReader&) { return read_op(); });
  plan.outputs =
      read_list<PlanOutput>(in, "outputs", kMaxPlanOutputs, kMinOutputBytes, read_output);
  if (in.ok() && in.remaining() > 0)
    in.reject("end", std::to_string(in.remaining()) + " bytes follow the last output");
  if (!in.ok()) return fail(ErrorCode::corrupt, "plan: " + in.why());
  return plan;
}

std::uint64_t aligned_output(std::uint64_t offset) {
  return (offset + kOutputAlignment - 1) / kOutputAlignment * kOutputAlignment;
}

std::optional<std::uint64_t> dtype_bytes(std::string_view dtype) {
  for (const Dtype& known : kDtypes) {
    if (known.name == dtype) return known.bytes;
  }
  return std::nullopt;
}

std::optional<std::uint64_t> output_span_bytes(const PlanOutput& output) {
  const auto item = dtype_bytes(output.dtype);
  if (!item || output.shape.size() != output.strides.size()) return std::nullopt;
  const auto negative = [](std::int64_t x) { return x < 0; };
  if (std::any_of(output.shape.begin(), output.shape.end(), negative) ||
      std::any_of(output.strides.begin(), output.strides.end(), negative))
    return std::nullopt;
  if (std::find(output.shape.begin(), output.shape.end(), 0) != output.shape.end()) return 0;
  std::uint64_t elements = 1;
  for (std::size_t i = 0; i < output.shape.size(); ++i) {
    std::uint64_t reach = 0;
    if (__builtin_mul_overflow(static_cast<std::uint64_t>(output.shape[i] - 1),
                               static_cast<std::uint64_t>(output.strides[i]), &reach))
      return std::nullopt;
    if (__builtin_add_overflow(elements, reach, &elements)) return std::nullopt;
  }
  std::uint64_t bytes = 0;
  if (__builtin_mul_overflow(elements, *item, &bytes)) return std::nullopt;
  return bytes;
}

std::vector<std::uint64_t> output_offsets(const Plan& plan) {
  std::vector<std::uint64_t> offsets;
  std::uint64_t next = 0;
  for (const PlanOutput& output : plan.outputs) {
    next = aligned_output(next);
    offsets.push_back(next);
    next += output_span_bytes(output).value_or(0);
  }
  offsets.push_back(next);
  return offsets;
}

std::string dtype_names() {
  std::string names;
  for (const Dtype& dtype : kDtypes) names += (names.empty() ? "" : ", ") + std::string(dtype.name);
  return names;
}

}  // namespace assay::sandbox
