#include "sandbox/pool/message_parts.h"

#include <cstdint>
#include <limits>

namespace assay::sandbox {
namespace {

using nlohmann::json;

Argument read_argument(const json& object, HeaderReader& outer, const char* name) {
  HeaderReader in(object, name);
  Argument argument;
  argument.name = in.optional_text("name");
  const std::string kind = in.text("kind");
  argument.is_tensor = kind == "tensor";
  if (argument.is_tensor) {
    argument.dtype = in.text("dtype");
    argument.shape = in.integers("shape", kMaxRank);
    argument.strides = in.integers("strides", kMaxRank);
    argument.fd = in.optional_integer("fd");
    argument.offset = in.integer("offset", 0, kHighestInteger);
    argument.nbytes = in.integer("nbytes", 0, kHighestInteger);
  } else if (kind == "scalar") {
    argument.scalar_type = in.text("type");
    if (argument.scalar_type == "int")
      argument.value =
          in.integer("value", std::numeric_limits<std::int64_t>::min(), kHighestInteger);
    else if (argument.scalar_type == "float")
      argument.value = in.number("value");
    else if (argument.scalar_type == "bool")
      argument.value = in.flag("value");
    else
      in.reject("`type` is int, float or bool");
  } else {
    in.reject("`kind` is tensor or scalar");
  }
  outer.merge(in);
  return argument;
}

}  // namespace

std::vector<Layer> read_layers(HeaderReader& in) {
  std::vector<Layer> layers;
  for (const json& entry : in.list("layers", kMaxLayers)) {
    HeaderReader layer(entry, "a layer");
    layers.push_back({layer.text("name"), layer.flag("active"), layer.text("detail")});
    in.merge(layer);
  }
  return layers;
}

Versions read_versions(HeaderReader& in) {
  return {in.text("torch"), in.text("triton"), in.text("python"), in.optional_text("nvrtc")};
}

std::vector<Argument> read_arguments(HeaderReader& in, const char* name) {
  std::vector<Argument> arguments;
  for (const json& entry : in.list(name, kMaxArguments))
    arguments.push_back(read_argument(entry, in, name));
  return arguments;
}

std::vector<KernelReport> read_kernels(HeaderReader& in, bool launcher) {
  std::vector<KernelReport> kernels;
  for (const json& entry : in.list("kernels", kMaxKernels)) {
    HeaderReader from(entry, "a kernel");
    KernelReport kernel;
    kernel.name = from.text("name");
    kernel.registers = from.integer("registers", 0, kHighestInteger);
    kernel.shared_bytes = from.integer("shared_bytes", 0, kHighestInteger);
    kernel.launches = from.integer("launches", 0, kHighestInteger);
    kernel.spill_bytes = from.integer(launcher ? "local_bytes" : "spill_bytes", 0, kHighestInteger);
    if (!launcher) {
      kernel.symbol = from.optional_text("symbol");
      kernel.target = from.text("target");
      kernel.num_warps = from.integer("num_warps", 0, 1'024);
      kernel.binary_bytes = from.integer("binary_bytes", 0, kHighestInteger);
      kernel.grid = from.integers("grid", 3);
    }
    in.merge(from);
    kernels.push_back(std::move(kernel));
  }
  return kernels;
}

json to_json(const Argument& argument) {
  if (!argument.is_tensor) {
    json out = {{"name", argument.name}, {"kind", "scalar"}, {"type", argument.scalar_type}};
    std::visit([&](auto value) { out["value"] = value; }, argument.value);
    return out;
  }
  json out = {{"name", argument.name},       {"kind", "tensor"},
              {"dtype", argument.dtype},     {"shape", argument.shape},
              {"strides", argument.strides}, {"offset", argument.offset},
              {"nbytes", argument.nbytes}};
  if (argument.fd) out["fd"] = *argument.fd;
  return out;
}

json to_json(const std::vector<Argument>& arguments) {
  json out = json::array();
  for (const Argument& argument : arguments) out.push_back(to_json(argument));
  return out;
}

Status expect_type(const Frame& frame, const char* type) {
  if (frame.type() == type) return {};
  return fail(ErrorCode::corrupt,
              "got a message `" + frame.type().substr(0, 64) + "` where `" + type + "` was due");
}

std::optional<Timing> read_timing(HeaderReader& in) {
  Timing timing;
  for (const json& sample : in.list("samples_ns", kMaxSamples)) {
    if (!sample.is_number())
      return in.reject("`samples_ns` has an entry that is no number"), std::nullopt;
    timing.samples_ns.push_back(sample.get<double>());
  }
  if (timing.samples_ns.empty()) return std::nullopt;
  timing.median_ns = in.number("median_ns");
  timing.low_ns = in.number("low_ns");
  timing.high_ns = in.number("high_ns");
  return timing;
}

}  // namespace assay::sandbox
