#include "sandbox/launcher/plan/plan_outputs.h"

#include <algorithm>
#include <array>
#include <cstddef>

namespace assay::sandbox {
namespace {

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
