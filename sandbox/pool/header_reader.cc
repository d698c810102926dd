#include "sandbox/pool/header_reader.h"

#include <cstdint>
#include <limits>
#include <utility>

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

HeaderReader::HeaderReader(const json& object, std::string where)
    : object_(object), where_(std::move(where)) {
  if (!object.is_object()) reject("is not an object");
}

std::string HeaderReader::text(const char* name) {
  const json* value = find(name);
  if (value == nullptr) return {};
  if (!value->is_string())
    return reject(std::string("`") + name + "` is not a string"), std::string();
  if (value->get_ref<const std::string&>().size() > kMaxTextBytes)
    return reject(std::string("`") + name + "` is too long"), std::string();
  return value->get<std::string>();
}

std::string HeaderReader::optional_text(const char* name) {
  return has(name) ? text(name) : std::string();
}

std::int64_t HeaderReader::integer(const char* name, std::int64_t low, std::int64_t high) {
  const json* value = find(name);
  if (value == nullptr) return low;
  const bool fits = value->is_number_integer() &&
                    !(value->is_number_unsigned() &&
                      value->get<std::uint64_t>() >
                          static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max()));
  if (!fits || value->get<std::int64_t>() < low || value->get<std::int64_t>() > high) {
    return reject(std::string("`") + name + "` is not a number from " + std::to_string(low) +
                  " to " + std::to_string(high)),
           low;
  }
  return value->get<std::int64_t>();
}

std::optional<std::int64_t> HeaderReader::optional_integer(const char* name) {
  if (!has(name)) return std::nullopt;
  return integer(name, std::numeric_limits<std::int64_t>::min(),
                 std::numeric_limits<std::int64_t>::max());
}

bool HeaderReader::flag(const char* name) {
  const json* value = find(name);
  if (value == nullptr) return false;
  if (!value->is_boolean())
    return reject(std::string("`") + name + "` is neither true nor false"), false;
  return value->get<bool>();
}

std::optional<bool> HeaderReader::optional_flag(const char* name) {
  if (!has(name)) return std::nullopt;
  return flag(name);
}

std::optional<double> HeaderReader::to_number(const json& value) const {
  if (value.is_number()) return value.get<double>();
  if (value.is_boolean()) return value.get<bool>() ? 1.0 : 0.0;
  if (value == "nan") return std::numeric_limits<double>::quiet_NaN();
  if (value == "inf") return std::numeric_limits<double>::infinity();
  if (value == "-inf") return -std::numeric_limits<double>::infinity();
  return std::nullopt;
}

double HeaderReader::number(const char* name) {
  const json* value = find(name);
  if (value == nullptr) return 0;
  const std::optional<double> found = to_number(*value);
  if (!found) reject(std::string("`") + name + "` is not a number");
  return found.value_or(0);
}

std::optional<double> HeaderReader::optional_number(const char* name) {
  if (!has(name)) return std::nullopt;
  return number(name);
}

std::vector<std::int64_t> HeaderReader::integers(const char* name, std::size_t most) {
  std::vector<std::int64_t> out;
  for (const json& entry : list(name, most)) {
    if (!entry.is_number_integer())
      return reject(std::string("`") + name + "` has an entry that is not an integer"),
             std::vector<std::int64_t>();
    out.push_back(entry.get<std::int64_t>());
  }
  return out;
}

std::vector<std::string> HeaderReader::texts(const char* name, std::size_t most) {
  std::vector<std::string> out;
  for (const json& entry : list(name, most)) {
    if (!entry.is_string() || entry.get_ref<const std::string&>().size() > kMaxTextBytes) {
      return reject(std::string("`") + name + "` has an entry that is not a string or is too long"),
             std::vector<std::string>();
    }
    out.push_back(entry.get<std::string>());
  }
  return out;
}

std::vector<json> HeaderReader::list(const char* name, std::size_t most) {
  const json* value = find(name);
  if (value == nullptr) return {};
  if (!value->is_array())
    return reject(std::string("`") + name + "` is not a list"), std::vector<json>();
  if (value->size() > most)
    return reject(std::string("`") + name + "` has more than " + std::to_string(most) + " entries"),
           std::vector<json>();
  return value->get<std::vector<json>>();
}

const json* HeaderReader::optional_object(const char* name) {
  if (!has(name)) return nullptr;
  const json* value = find(name);
  if (!value->is_object()) return reject(std::string("`") + name + "` is not an object"), nullptr;
  return value;
}

bool HeaderReader::has(const char* name) const {
  if (!object_.is_object()) return false;
  const auto found = object_.find(name);
  return found != object_.end() && !found->is_null();
}

void HeaderReader::reject(const std::string& what) {
  if (error_.empty()) error_ = where_ + ": " + what;
}

void HeaderReader::merge(const HeaderReader& other) {
  if (error_.empty()) error_ = other.error_;
}

Status HeaderReader::status() const {
  if (!error_.empty()) return fail(ErrorCode::corrupt, error_);
  return {};
}

const json* HeaderReader::find(const char* name) {
  if (!object_.is_object()) return nullptr;
  const auto found = object_.find(name);
  if (found == object_.end()) return reject(std::string("`") + name + "` is missing"), nullptr;
  return &*found;
}

std::vector<LayerReport> read_layers(HeaderReader& in) {
  std::vector<LayerReport> layers;
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
      return in.reject("`samples_ns` has an entry that is not a number"), std::nullopt;
    timing.samples_ns.push_back(sample.get<double>());
  }
  if (timing.samples_ns.empty()) return std::nullopt;
  timing.median_ns = in.number("median_ns");
  timing.low_ns = in.number("low_ns");
  timing.high_ns = in.number("high_ns");
  return timing;
}

}  // namespace assay::sandbox
