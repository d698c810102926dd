// encode_plan() writes the byte form of a plan, for tests and fuzzers. Assay itself writes plans
// only in Python (sandbox/harness/recording/plan.py).
#pragma once

#include <concepts>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "sandbox/launcher/plan/plan.h"

namespace assay::sandbox {

class PlanBytes {
 public:
  template <std::integral T>
  void number(T value) {
    for (std::size_t i = 0; i < sizeof(T); ++i)
      bytes_.push_back(static_cast<char>(static_cast<std::uint64_t>(value) >> (8 * i)));
  }
  void string(std::string_view text) {
    number(static_cast<std::uint32_t>(text.size()));
    bytes_ += text;
  }
  void blob(std::string_view text) {
    number(static_cast<std::uint64_t>(text.size()));
    bytes_ += text;
  }
  void dim3(const Dim3& dims) {
    for (const std::uint32_t dim : dims) number(dim);
  }
  void raw(std::string_view text) { bytes_ += text; }
  std::string take() { return std::move(bytes_); }

 private:
  std::string bytes_;
};

struct ParamWriter {
  PlanBytes& out;
  void operator()(const ScalarParam& scalar) const {
    out.number(static_cast<std::uint8_t>(ParamCode::scalar));
    out.number(scalar.size);
    out.number(scalar.value);
  }
  void operator()(const PointerParam& pointer) const {
    out.number(static_cast<std::uint8_t>(ParamCode::pointer));
    out.number(pointer.buffer);
    out.number(pointer.offset);
  }
  void operator()(const NullParam&) const {
    out.number(static_cast<std::uint8_t>(ParamCode::null));
  }
  void operator()(const GlobalScratchParam& scratch) const {
    out.number(static_cast<std::uint8_t>(ParamCode::global_scratch));
    out.number(scratch.bytes_per_program);
    out.number(scratch.alignment);
  }
  void operator()(const TensorMapParam& map) const {
    out.number(static_cast<std::uint8_t>(ParamCode::tensor_map));
    out.number(map.buffer);
    out.number(map.offset);
    out.number(map.type);
    out.number(map.swizzle);
    out.number(map.nan_outside);
    out.number(static_cast<std::uint8_t>(map.shape.size()));
    for (const std::uint64_t extent : map.shape) out.number(extent);
    for (const std::uint64_t stride : map.strides) out.number(stride);
    for (const std::uint32_t extent : map.box) out.number(extent);
  }
};

struct OpWriter {
  PlanBytes& out;
  void operator()(const KernelOp& op) const {
    out.number(static_cast<std::uint8_t>(OpCode::kernel));
    out.number(op.binary);
    out.dim3(op.grid);
    out.dim3(op.block);
    out.dim3(op.cluster);
    out.number(op.flags);
    out.number(static_cast<std::uint32_t>(op.params.size()));
    for (const KernelParam& param : op.params) std::visit(ParamWriter{out}, param);
  }
  void operator()(const FillOp& op) const {
    out.number(static_cast<std::uint8_t>(OpCode::fill));
    out.number(op.buffer);
    out.number(op.offset);
    out.number(op.count);
    out.number(op.width);
    out.number(op.pattern);
  }
  void operator()(const CopyOp& op) const {
    out.number(static_cast<std::uint8_t>(OpCode::copy));
    out.number(op.dst);
    out.number(op.dst_offset);
    out.number(op.src);
    out.number(op.src_offset);
    out.number(op.bytes);
  }
  void operator()(const ChoiceOp& op) const {
    out.number(static_cast<std::uint8_t>(OpCode::choice));
    out.number(op.tunable);
    out.number(static_cast<std::uint32_t>(op.alternatives.size()));
    for (const Alternative& alternative : op.alternatives) {
      out.string(alternative.label);
      out.number(static_cast<std::uint32_t>(alternative.ops.size()));
      for (const SimpleOp& one : alternative.ops) std::visit(*this, one);
    }
  }
};

/// Writes the plan without checking it. decode_plan() checks the limits.
inline std::string encode_plan(const Plan& plan) {
  PlanBytes out;
  out.raw(kPlanMagic);
  out.number(plan.version);
  out.string(plan.target);
  out.number(static_cast<std::uint32_t>(plan.buffers.size()));
  for (const PlanBuffer& buffer : plan.buffers) {
    out.number(static_cast<std::uint8_t>(buffer.kind));
    out.number(buffer.bytes);
    out.string(buffer.name);
    out.blob(buffer.constant);
  }
  out.number(static_cast<std::uint32_t>(plan.binaries.size()));
  for (const PlanBinary& binary : plan.binaries) {
    out.string(binary.kernel);
    out.number(binary.shared_bytes);
    out.blob(binary.image);
  }
  out.number(static_cast<std::uint32_t>(plan.ops.size()));
  for (const PlanOp& op : plan.ops) std::visit(OpWriter{out}, op);
  out.number(static_cast<std::uint32_t>(plan.outputs.size()));
  for (const PlanOutput& output : plan.outputs) {
    out.number(output.buffer);
    out.number(output.offset);
    out.string(output.dtype);
    out.number(static_cast<std::uint32_t>(output.shape.size()));
    for (const std::int64_t extent : output.shape) out.number(extent);
    for (const std::int64_t stride : output.strides) out.number(stride);
  }
  return out.take();
}

}  // namespace assay::sandbox
